//! What to do about an error, for whoever gets it. The crates below advise commands of the terminal; clients of the API have
//! requests for the same, and agents have tools.

use serde::Serializer;

/// What the terminal has, and what the API has instead.
const REQUESTS: [[&str; 2]; 5] = [
    ["`memo docs`", "`GET /api/documents`"],
    ["`memo log`", "`GET /api/transactions`"],
    ["`memo rebuild --lexicon FILE`", "`POST /api/rebuild` with a `lexicon`"],
    [
        "`memo lexicon convert` makes a lexicon of a table",
        "a table is read with `\"format\": \"table\"`",
    ],
    [", or choose a rule with --on-conflict first or drop", ""],
];

/// What the terminal has, and what agents have instead.
const TOOLS: [[&str; 2]; 2] =
    [["`memo docs` lists them", "`recall` finds them"], ["`memo log`", "`history`"]];

/// A message for agents.
pub(crate) fn for_agents(message: &str) -> String {
    instead(message, &TOOLS)
}

/// Writes a message for clients of the API.
pub(crate) fn serialize<S: Serializer>(message: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&instead(message, &REQUESTS))
}

fn instead(message: &str, table: &[[&str; 2]]) -> String {
    table.iter().fold(message.to_owned(), |message, [command, here]| message.replace(command, here))
}

#[cfg(test)]
mod tests {
    use crate::error::ApiError;
    use crate::mcp::Refusal;
    use memo_store::Error;

    /// What clients can get of a model's own errors.
    fn errors() -> Vec<Error> {
        vec![
            Error::NoDocument("owl".to_owned()),
            Error::NoneFits,
            Error::NoTransaction(7),
            Error::NoLexicon,
            Error::NoClass("car".to_owned()),
            Error::NotFound,
            Error::EditFails(9),
            Error::Stopped,
        ]
    }

    #[test]
    fn nobody_is_told_to_type_commands_of_the_terminal() {
        for error in errors().into_iter().map(ApiError::from) {
            let sent = serde_json::to_string(&error).unwrap();
            assert!(!sent.contains("`memo "), "{sent}");
        }
        // Tools do not touch lexicons.
        for error in errors().into_iter().filter(|error| !matches!(error, Error::NoLexicon)) {
            let Refusal { message, .. } = ApiError::from(error).into();
            assert!(!message.contains("`memo "), "{message}");
        }
    }
}
