//! The lexicon of the model: how large it is, which classes a word has, and which words a class.

use crate::error::ApiError;
use crate::extract::{Json, Path};
use crate::server::{Chosen, ChosenWith};
use memo::lexicon::Lexicon;
use memo::words::each_unit;
use memo_store::{ClassMembers, Error, LexiconStats, Snapshot, WordClass};
use memo_text::{LexiconFormat, LexiconOptions, parse_lexicon};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The lexicon in figures.
#[cfg_attr(test, utoipa::path(get, path = "/api/lexicon", operation_id = "show_lexicon", tag = "lexicon", responses((status = 200, body = LexiconStats), (status = 404, body = crate::error::ErrorBody, description = "The model has no lexicon"))))]
pub(crate) async fn show(Chosen(app): Chosen) -> Result<axum::Json<LexiconStats>, ApiError> {
    let stats = app.read(|_, snapshot| Ok(snapshot.lexicon_stats().ok_or(Error::NoLexicon)?));
    Ok(axum::Json(stats.await?))
}

/// A word and its classes.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct WordClasses {
    word: String,
    /// Its class on each level of the lexicon that has one.
    classes: Vec<WordClass>,
}

/// The classes of a word, whatever its case.
#[cfg_attr(test, utoipa::path(get, path = "/api/lexicon/words/{word}", operation_id = "show_word", tag = "lexicon", params(("word" = String, Path)), responses((status = 200, body = WordClasses), (status = 404, body = crate::error::ErrorBody, description = "The model has no lexicon, or the word no class in it"))))]
pub(crate) async fn word(
    Chosen(app): Chosen,
    Path(word): Path<String>,
) -> Result<axum::Json<WordClasses>, ApiError> {
    let classes = app.read(move |_, snapshot| {
        let classes = snapshot.lexicon().map(|_| snapshot.word_classes(&word));
        let classes = classes.ok_or(Error::NoLexicon)?;
        if classes.is_empty() {
            return Err(ApiError::not_found(format!("the lexicon has no class for {word:?}")));
        }
        Ok(WordClasses { word, classes })
    });
    Ok(axum::Json(classes.await?))
}

/// How many words of a class to list.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassQuery {
    /// The most words, 50 by default.
    limit: Option<usize>,
}

/// The first words of a class.
#[cfg_attr(test, utoipa::path(get, path = "/api/lexicon/classes/{class}", operation_id = "show_class", tag = "lexicon", params(("class" = String, Path), ClassQuery), responses((status = 200, body = ClassMembers), (status = 404, body = crate::error::ErrorBody, description = "The model has no lexicon, or that no such class"))))]
pub(crate) async fn class(
    ChosenWith(app, ClassQuery { limit }): ChosenWith<ClassQuery>,
    Path(class): Path<String>,
) -> Result<axum::Json<ClassMembers>, ApiError> {
    let limit = limit.unwrap_or(50).min(1000);
    let members = app.read(move |_, snapshot| Ok(snapshot.class_members(&class, limit)?));
    Ok(axum::Json(members.await?))
}

/// A text whose words are looked up.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct LookUpRequest {
    text: String,
}

/// The words of a text that have classes, in order.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ClassifiedText {
    words: Vec<ClassifiedWord>,
}

/// A word of a text, where it stands, and its classes.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ClassifiedWord {
    word: String,
    /// Characters of the text before it.
    start: usize,
    /// Characters of the text until its end.
    end: usize,
    /// Its class on each level of the lexicon that has one.
    classes: Vec<WordClass>,
}

/// The words of a text that the lexicon has classes for, and where they stand.
#[cfg_attr(test, utoipa::path(post, path = "/api/lexicon/text", operation_id = "classify_text", tag = "lexicon", request_body = LookUpRequest, responses((status = 200, body = ClassifiedText), (status = 404, body = crate::error::ErrorBody, description = "The model has no lexicon"))))]
pub(crate) async fn text(
    Chosen(app): Chosen,
    Json(LookUpRequest { text }): Json<LookUpRequest>,
) -> Result<axum::Json<ClassifiedText>, ApiError> {
    /// Each word is answered with its classes, so the text may be as long as a page shows, but not as a book.
    const MAX_BYTES: usize = 1 << 20;
    if text.len() > MAX_BYTES {
        let message = format!("text must be at most {MAX_BYTES} bytes");
        return Err(ApiError::invalid_field("text", message));
    }
    let words = app.read(move |_, snapshot| {
        snapshot.lexicon().ok_or(Error::NoLexicon)?;
        Ok(classified(snapshot, &text))
    });
    Ok(axum::Json(ClassifiedText { words: words.await? }))
}

fn classified(snapshot: &Snapshot, text: &str) -> Vec<ClassifiedWord> {
    let (mut words, mut bytes, mut characters) = (Vec::new(), 0, 0);
    each_unit(text.as_bytes(), |_, place| {
        let part = |place: Range<usize>| text.get(place).unwrap_or_default();
        let (between, word) = (part(bytes..place.start), part(place.clone()));
        let start = characters + between.chars().count();
        let end = start + word.chars().count();
        (bytes, characters) = (place.end, end);
        let classes = snapshot.word_classes(word);
        if !classes.is_empty() {
            words.push(ClassifiedWord { word: word.to_owned(), start, end, classes });
        }
    });
    words
}

/// The lexicon that a request has as a text; nothing for `none`.
pub(super) fn parsed(text: &str, format: Option<&str>) -> Result<Option<Arc<Lexicon>>, ApiError> {
    if text == "none" {
        return Ok(None);
    }
    let format = format.map(|name| {
        let format: Result<LexiconFormat, String> = name.parse();
        format.map_err(|problem| ApiError::invalid_field("format", format!("format {problem}")))
    });
    let options = LexiconOptions { format: format.transpose()?, ..LexiconOptions::default() };
    match parse_lexicon(text, "lexicon", &options) {
        Ok((lexicon, _)) => Ok(Some(Arc::new(lexicon))),
        Err(error) => Err(ApiError::invalid_field("lexicon", error.to_string())),
    }
}
