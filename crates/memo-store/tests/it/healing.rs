//! Token healing: what people type ends where it ends, and is continued from there.

use memo::readout::Sampling;
use memo_store::{
    CompletionOptions, CompletionStream, FinishReason, MatchKind, NewDocument, NewModel,
    ReadOptions, Store,
};
use memo_text::Tokenizer;

const TEXT: &str = "Night after night the old owl in the barn was reading encyclopaedias by candlelight.\n\nIn the \
     morning, the naïve café owner asked: “Ça va, 夜の梟さん?” 🦉🦉 The unbelievable catalogue of \
     misunderstandings, however, wouldn't end; 1,234,567 pages remained unread.";

fn store(home: &tempfile::TempDir, tokenizer: Tokenizer) -> Store {
    let new = NewModel { tokenizer, ..NewModel::default() };
    let mut store = Store::create(&home.path().join("m.memo"), &new).unwrap();
    store.memorize([NewDocument::text(TEXT).with_id("a")], None).unwrap();
    store
}

fn each(mut test: impl FnMut(Store)) {
    for tokenizer in [Tokenizer::gpt2(), Tokenizer::o200k()] {
        let home = tempfile::tempdir().unwrap();
        test(store(&home, tokenizer));
    }
}

fn greedy() -> CompletionOptions {
    CompletionOptions::greedy(400)
}

fn unhealed() -> CompletionOptions {
    CompletionOptions { heal: false, find: false, ..greedy() }
}

/// Wherever a quote ends, in a space, a word or a symbol, the text goes on from there.
#[test]
fn a_prompt_is_continued_as_typed_wherever_it_ends() {
    each(|store| {
        let from = TEXT.find("candlelight").unwrap();
        let mut wrong = Vec::new();
        for end in (from..TEXT.len()).filter(|&end| TEXT.is_char_boundary(end)) {
            let said =
                store.complete(&TEXT[..end], &CompletionOptions::greedy(3)).unwrap().completion;
            if said.is_empty() || !TEXT[end..].starts_with(&said) {
                wrong.push((TEXT[..end].to_owned(), said));
            }
        }
        assert_eq!(wrong, [], "{}", store.tokenizer().name());
    });
}

#[test]
fn without_healing_a_trailing_space_leads_elsewhere() {
    each(|store| {
        let prompt = "Night after night the old owl ";
        let end = prompt.len();
        assert_eq!(store.complete(prompt, &greedy()).unwrap().completion, TEXT[end..]);
        assert_ne!(store.complete(prompt, &unhealed()).unwrap().completion, TEXT[end..]);
    });
}

/// The tokens of a prompt may end inside a character; the completion has all of it.
#[test]
fn half_a_character_is_completed() {
    each(|store| {
        let tokenizer = store.tokenizer();
        let tokens = tokenizer.encode(TEXT).unwrap();
        for end in 30..tokens.len() {
            let typed = tokenizer.decode(&tokens[..end]);
            let whole = match std::str::from_utf8(&typed) {
                Ok(_) => continue,
                Err(error) => error.valid_up_to(),
            };
            let mut stream = CompletionStream::new(tokenizer, &tokens[..end], &greedy()).unwrap();
            let mut text = String::new();
            while let Some(token) = stream.next_token(store.memory().unwrap()).unwrap() {
                text += &token.text;
            }
            assert_eq!(text, TEXT[whole..], "{} {end}", tokenizer.name());
        }
    });
}

/// A prompt that ends in tokens of the text, and one that the memory does not know.
#[test]
fn a_prompt_that_needs_no_healing_is_continued_as_before() {
    each(|store| {
        let mut other = store;
        // Each text goes on after the end of a word and inside one.
        let more = ["The cat sleeps.", "The catalogue is long.", "A cat and a catalogue."];
        other.memorize(more.map(NewDocument::text), None).unwrap();
        let sampled = CompletionOptions {
            sampling: Sampling { temperature: 0.8, seed: 3, ..Sampling::default() },
            top: Some(2),
            contexts: true,
            ..CompletionOptions::greedy(4)
        };
        let options = [CompletionOptions::greedy(4), sampled];
        for prompt in ["Night after night", "The cat", "Nobody has ever heard zyx", "", " ", "Owl"]
        {
            for options in &options {
                let healed = other.complete(prompt, options).unwrap();
                let options = CompletionOptions { heal: false, ..options.clone() };
                let before = other.complete(prompt, &options).unwrap();
                assert_eq!(healed.tokens, before.tokens, "{prompt:?}");
            }
        }
    });
}

#[test]
fn healing_goes_with_sampling_stops_streams_and_lengths() {
    each(|store| {
        let prompt = "Night after night the old owl in the barn was reading encycl";
        let rest = &TEXT[prompt.len()..];
        let until = &rest[..rest.find(" candle").unwrap()];
        let options = CompletionOptions {
            sampling: Sampling { temperature: 0.2, seed: 9, ..Sampling::default() },
            stop: vec![" candle".to_owned()],
            top: Some(1),
            contexts: true,
            ..greedy()
        };
        let done = store.complete(prompt, &options).unwrap();
        assert_eq!((done.completion.as_str(), done.finish_reason), (until, FinishReason::Stop));
        // Every token of it has what was asked for, the first one too.
        assert!(done.tokens.iter().all(|t| t.probability.unwrap() > 0.0 && t.layer.is_some()));
        let streamed: Vec<_> =
            store.tokens(prompt, &options).unwrap().map(Result::unwrap).collect();
        assert_eq!(streamed, done.tokens);
        // The first text may itself be a stop.
        let stop = vec![rest.chars().next().unwrap().to_string()];
        let stopped = store.complete(prompt, &CompletionOptions { stop, ..greedy() }).unwrap();
        assert_eq!((stopped.completion.as_str(), stopped.finish_reason), ("", FinishReason::Stop));
        for length in 0..4 {
            let cut = store.complete(prompt, &CompletionOptions::greedy(length)).unwrap();
            assert_eq!(cut.tokens.len(), length);
            assert!(rest.starts_with(&cut.completion));
        }
    });
}

/// A memory in shards is asked for what follows the context, which is the healed one while there is healing.
#[test]
fn a_choice_of_healing_can_be_made_again() {
    each(|store| {
        let prompt = store.tokenizer().encode("Night after night the old owl in the ba").unwrap();
        let mut stream = CompletionStream::new(store.tokenizer(), &prompt, &greedy()).unwrap();
        let memory = store.memory().unwrap();
        let mut text = String::new();
        while stream.choose(memory).unwrap().is_some() {
            assert!(!stream.context().is_empty());
            let choice = stream.choose(memory).unwrap().unwrap();
            stream.accept(choice);
            text.extend(std::iter::from_fn(|| stream.take_ready()).map(|token| token.text));
        }
        assert_eq!(text, TEXT["Night after night the old owl in the ba".len()..]);
    });
}

/// A careless quote goes on from where it ends too: in a space, or inside a word.
#[test]
fn a_careless_prompt_is_continued_wherever_it_ends() {
    each(|store| {
        for (prompt, next) in [
            ("Night after nihgt the old owl in the barn", " was reading"),
            ("Night after night the old owl in the bran ", "was reading"),
            ("night after night the old OWL in the barn was rea", "ding encyclopaedias"),
            (
                "Night after nite the old owl in the barn was reading encyclop",
                "aedias by candlelight",
            ),
        ] {
            let done = store.complete(prompt, &greedy()).unwrap();
            let said = &done.completion;
            assert!(said.starts_with(next), "{prompt}: {said}, {:?}", done.matched);
            // Where the end alone is a quote, what comes before it does not matter.
            let kind = done.matched.unwrap().kind;
            assert!(matches!(kind, MatchKind::Near | MatchKind::Verbatim), "{prompt}: {kind:?}");
        }
    });
}

/// Where a text ends with the word that a careless quote only begins, its rest is all that follows.
#[test]
fn a_careless_prompt_may_end_inside_the_last_word_of_a_text() {
    each(|mut store| {
        let text = "Before sunrise the lighthouse keeper counts every passing schooner twice before breakfast";
        store.memorize([NewDocument::text(text).with_id("b")], None).unwrap();
        for top in [None, Some(2)] {
            let options = CompletionOptions { top, ..greedy() };
            let prompt = "Before sunrise the lighthose keeper counts every passing schooner twice before brea";
            let done = store.complete(prompt, &options).unwrap();
            let (kind, reason) = (done.matched.unwrap().kind, done.finish_reason);
            assert_eq!((kind, reason), (MatchKind::Near, FinishReason::End));
            assert_eq!(done.completion, "kfast");
            assert!(done.tokens.iter().all(|token| token.score.is_some() == top.is_some()));
        }
    });
}

/// What explains a completion is what was continued: each token is the likeliest after the tokens before it, and has a source that
/// has them too; and what was continued, the first token and the rest are the text that was memorized.
#[test]
fn a_completion_says_what_was_continued() {
    each(|store| {
        for (prompt, remembered) in [
            ("Night after nihgt the old owl in the barn", "night the old owl in the barn"),
            ("Night after night the old owl in the bran ", "owl in the barn"),
            ("night after night the old OWL in the barn was rea", "owl in the barn was"),
            ("Night after night the old owl ", "the old owl"),
            ("Night after night the old owl in the barn was rea", "in the barn was"),
            ("old owl in the barn", " old owl in the barn"),
            ("the nayve café owner asked", "the naïve café owner asked"),
        ] {
            let done = store.complete(prompt, &CompletionOptions::greedy(5)).unwrap();
            let continued = done.continued.unwrap_or_else(|| panic!("{prompt} as it is"));
            let at = continued.text.find(remembered);
            let at = at.unwrap_or_else(|| panic!("{prompt}: {}", continued.text));
            let mut context = continued.tokens;
            assert_eq!(store.tokenizer().decode_lossy(&context), continued.text);
            let rest: String = done.tokens[1..].iter().map(|token| token.text.as_str()).collect();
            let said = format!("{}{}{rest}", &continued.text[at..], continued.next);
            assert!(TEXT.contains(&said), "{prompt}: {said}");
            for token in done.tokens {
                let why = store.explain_tokens(&context, 1, &ReadOptions::default()).unwrap();
                let candidate = &why.candidates[0];
                assert_eq!(candidate.token, token.token, "{prompt}: {:?}", why.prompt);
                assert!(candidate.sources[0].match_tokens > 3, "{prompt}: {:?}", why.prompt);
                context.push(token.token);
            }
        }
        // As it is, or unknown.
        for prompt in ["Night after night the old owl", "Nobody has ever heard zyx"] {
            assert_eq!(store.complete(prompt, &greedy()).unwrap().continued, None, "{prompt}");
        }
    });
}

/// A quote that begins in the middle of a line is looked for after a space, though its first word also ends a longer one.
#[test]
fn a_prompt_begins_with_a_word() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(&home, Tokenizer::gpt2());
    let text =
        "fn name(self, size: usize) -> Page\n  where self, size: usize, are all that is asked for";
    store.memorize([NewDocument::text(text).with_id("b")], None).unwrap();
    let next = |prompt: &str| store.complete(prompt, &greedy()).unwrap().completion;
    assert_eq!(next("self, size: usize"), ", are all that is asked for");
    assert_eq!(next("(self, size: usize"), &text["fn name(self, size: usize".len()..]);
    // A document begins with this.
    assert!(next("fn name(").starts_with("self, size"));
}

/// White space and signs that only the memory has are no evidence that it has the words before them.
#[test]
fn a_layout_that_nobody_typed_leads_nowhere() {
    let text = "邮件服务器：安全的 POP，SMTP 和 IMAP 使用\n    加密的口令，不会泄露。\n\n鼠标和 IMAP4 有三个按钮：\n\n          + \
        使用左键移动窗口\n\n          + 使用右键打开菜单\n\n          + 使用中键粘贴文字\n";
    let new = NewModel { tokenizer: Tokenizer::gpt2(), ..NewModel::default() };
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &new).unwrap();
    store.memorize([NewDocument::text(text).with_id("a")], None).unwrap();
    for prompt in ["smtp 和 imap 使用", "smtp和imap使用", "pop，smtp和imap使用"] {
        let found = store.complete(prompt, &CompletionOptions::greedy(20)).unwrap();
        let said = found.completion.trim_start();
        assert!(said.starts_with("加密的口令"), "{prompt}: {said:?} ({:?})", found.matched);
    }
}

/// Functions that differ in two words and a name, as code has them.
const ROUTES: &str = "
    def by_road(self, cargo):
        route = 'ROAD'
        where, when = self.ask_harbour(route, cargo, self.weather)
        return self.note_answer(where, when, route)

    def reset(self):
        self.weather = None

    def by_ferry(self, cargo):
        route = 'FERRY'
        where, when = self.ask_harbour(route, cargo, self.weather)
        return self.note_answer(where, when, route)

    def close(self):
        self.harbour.close()

    def by_tram(self, cargo):
        route = 'TRAM'
        where, when = self.ask_harbour(route, cargo, self.weather)
        return self.note_answer(where, when, route)

    def count(self):
        return self.parcels.count(self.harbour,
                                                          at_once=True)
";

fn routes(home: &tempfile::TempDir) -> Store {
    let new = NewModel { tokenizer: Tokenizer::gpt2(), ..NewModel::default() };
    let mut store = Store::create(&home.path().join("m.memo"), &new).unwrap();
    store.memorize([NewDocument::text(ROUTES).with_id("a")], None).unwrap();
    store
}

/// The beginning of a quote tells where it is from, though its last 32 tokens stand at several places; also if its quotes are those of
/// a word processor.
#[test]
fn a_quote_of_code_goes_on_where_its_beginning_stands() {
    let home = tempfile::tempdir().unwrap();
    let store = routes(&home);
    for (route, next) in [("ROAD", "def reset"), ("FERRY", "def close"), ("TRAM", "def count")] {
        let first = ROUTES.find(&format!("'{route}'")).unwrap();
        let quote = &ROUTES[first..first + ROUTES[first..].find("\n\n").unwrap()];
        for prompt in [quote.to_owned(), quote.replace('\'', "’")] {
            let found = store.complete(&prompt, &CompletionOptions::greedy(20)).unwrap();
            let said = found.completion.trim_start();
            assert!(said.starts_with(next), "{prompt}: {said:?} ({:?})", found.matched);
            let kind = found.matched.unwrap().kind;
            let exact = if prompt == quote { MatchKind::Verbatim } else { MatchKind::Near };
            assert_eq!(kind, exact, "{prompt}");
        }
    }
}

/// Signs at the end of a careless quote are not said again, though one of them is missing or there twice.
#[test]
fn signs_that_were_typed_are_not_said_again() {
    let home = tempfile::tempdir().unwrap();
    let mut store = routes(&home);
    let text = "const click = (stop) => {\n  chooseHarbour(stop);\n  return (\n    <>\n      every boat\n    </>);\n};\n";
    store.memorize([NewDocument::text(text).with_id("b")], None).unwrap();
    for prompt in [
        "(stop) => {\n  chooseHarbour(stop);\n  return ( (\n    <>",
        "(stop) => {\n  chooseHarbour(stop;\n  return\n    <>",
        "(stop) => {\n  chooseHarbour(stop);\n  return\n  } (\n    <>",
    ] {
        let found = store.complete(prompt, &CompletionOptions::greedy(20)).unwrap();
        let said = found.completion.trim_start();
        assert!(said.starts_with("every boat"), "{prompt}: {said:?} ({:?})", found.matched);
    }
}

/// An indentation is no loop, however deep.
#[test]
fn a_deep_indentation_is_said_to_its_end() {
    let home = tempfile::tempdir().unwrap();
    let prompt = "return self.parcels.count(self.harbour,";
    let found = routes(&home).complete(prompt, &greedy()).unwrap();
    let rest = ROUTES.find(prompt).unwrap() + prompt.len();
    assert_eq!(
        (found.completion.as_str(), found.finish_reason),
        (&ROUTES[rest..], FinishReason::End)
    );
}

/// Words in lower case at the end of an indented line go on in the next one.
#[test]
fn a_careless_quote_of_indented_text_goes_on_in_the_next_line() {
    let home = tempfile::tempdir().unwrap();
    let mut store = routes(&home);
    let text = "        The Courier sends a Parcel by Tram and Ferry using\n                whichever Tunnel is \
        open, as long\n                as the Warden has not locked it.\n";
    store.memorize([NewDocument::text(text).with_id("b")], None).unwrap();
    for (prompt, next) in [
        ("tram and ferry using", "whichever Tunnel"),
        ("by tram and ferry using", "whichever Tunnel"),
        ("tunnel is open as long", "as the Warden"),
    ] {
        let found = store.complete(prompt, &CompletionOptions::greedy(30)).unwrap();
        let said = found.completion.trim_start();
        assert!(said.starts_with(next), "{prompt}: {said:?} ({:?})", found.matched);
    }
}
