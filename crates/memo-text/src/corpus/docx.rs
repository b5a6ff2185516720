//! The text of a Word document (`.docx`): its paragraphs, a line each.
//!
//! Such a file is an archive of XML. Only the part that is the document is read, and of that never more than the limit of a document: an archive
//! may claim little and unpack to much. XML has no entities of its own here, so nothing can grow on its way.

use quick_xml::Reader;
use quick_xml::events::Event;
use std::io::{BufReader, Cursor, Read};

/// Why a file is no Word document that can be read.
#[derive(Debug)]
pub(super) enum DocxError {
    /// What is wrong with it.
    Damaged(String),
    /// It unpacks to more than so many bytes.
    TooLarge,
}

fn damaged(why: &impl ToString) -> DocxError {
    DocxError::Damaged(why.to_string())
}

/// Returns the text of a Word document, which may unpack to `max` bytes.
pub(super) fn text(bytes: &[u8], max: u64) -> Result<String, DocxError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    // Some programs give it a number: `word/document2.xml`.
    let is_document = |name: &&str| {
        let number = name.strip_prefix("word/document").and_then(|rest| rest.strip_suffix(".xml"));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let name = archive.file_names().find(is_document).map(str::to_owned);
    let name = name.ok_or_else(|| damaged(&"it has no text"))?;
    let document = archive.by_name(&name).map_err(|error| damaged(&error))?;
    let mut limited = Limited { read: document, left: max, over: false };
    let text = paragraphs(BufReader::new(&mut limited));
    if limited.over { Err(DocxError::TooLarge) } else { text }
}

/// Reads up to a limit, and remembers whether there was more.
struct Limited<R> {
    read: R,
    left: u64,
    over: bool,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.read.read(buffer)? as u64;
        self.over |= n > self.left;
        let kept = n.min(self.left);
        self.left -= kept;
        Ok(kept as usize)
    }
}

fn paragraphs(xml: impl std::io::BufRead) -> Result<String, DocxError> {
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().expand_empty_elements = true;
    let (mut text, mut buffer, mut in_text) = (String::new(), Vec::new(), false);
    // How deep in elements that have no text of their own: properties, whose tabs are those of the ruler, and what older programs show
    // in place of something.
    let mut silent = 0;
    loop {
        match reader.read_event_into(&mut buffer).map_err(|error| damaged(&error))? {
            Event::Start(tag) => match tag.local_name().as_ref() {
                b"pPr" | b"Fallback" => silent += 1,
                _ if silent > 0 => {}
                b"tab" => text.push('\t'),
                b"br" | b"cr" => text.push('\n'),
                name => in_text = name == b"t",
            },
            Event::End(tag) => match tag.local_name().as_ref() {
                b"pPr" | b"Fallback" => silent -= 1,
                b"p" if silent == 0 => text.push('\n'),
                _ => in_text = false,
            },
            Event::Text(piece) if in_text => {
                text.push_str(&piece.unescape().map_err(|error| damaged(&error))?);
            }
            Event::CData(piece) if in_text => {
                text.push_str(std::str::from_utf8(&piece).map_err(|error| damaged(&error))?);
            }
            Event::Eof => return Ok(text),
            _ => {}
        }
        buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::{SimpleFileOptions, ZipWriter};

    fn archive(name: &str, xml: &str) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(xml.as_bytes()).unwrap();
        writer.finish().unwrap().into_inner()
    }

    const PAGE: &str = "<?xml version=\"1.0\"?><w:document xmlns:w=\"w\"><w:body>\
        <w:p><w:r><w:t>The owl </w:t></w:r><w:r><w:t xml:space=\"preserve\">reads &amp; sleeps.</w:t></w:r></w:p>\
        <w:p><w:pPr><w:tabs><w:tab w:val=\"left\"/></w:tabs></w:pPr><w:r><w:tab/><w:t>In the tower.</w:t><w:instrText>PAGE</w:instrText></w:r></w:p><w:p/>\
        <mc:AlternateContent><mc:Choice><w:p><w:t>A box.</w:t></w:p></mc:Choice><mc:Fallback><w:p><w:t>A box.</w:t></w:p></mc:Fallback></mc:AlternateContent>\
        </w:body></w:document>";

    #[test]
    fn paragraphs_are_lines() {
        for name in ["word/document.xml", "word/document2.xml"] {
            let text = text(&archive(name, PAGE), 1 << 20).unwrap();
            assert_eq!(text, "The owl reads & sleeps.\n\tIn the tower.\n\nA box.\n");
        }
    }

    #[test]
    fn what_is_no_document_or_too_much_is_refused() {
        let refused = |bytes: &[u8]| matches!(text(bytes, 1 << 20), Err(DocxError::Damaged(_)));
        assert!(refused(b"PK\x03\x04 and no more"));
        assert!(refused(&archive("word/other.xml", PAGE)));
        assert!(refused(&archive("word/document.xml", "<w:p><w:t>no end</w:q>")));
        let mut torn = archive("word/document.xml", PAGE);
        let middle = torn.len() / 3;
        torn[middle] ^= 0x55;
        assert!(text(&torn, 1 << 20).is_err());
        // A few kilobytes that unpack to many megabytes.
        let bomb = archive("word/document.xml", &format!("<w:t>{}</w:t>", "x".repeat(4 << 20)));
        assert!(bomb.len() < 50_000, "{}", bomb.len());
        assert!(matches!(text(&bomb, 1 << 16), Err(DocxError::TooLarge)));
        // Entities do not expand.
        let laughs = "<!DOCTYPE d [<!ENTITY a \"aaaa\">]><w:document><w:p><w:t>&a;&a;</w:t></w:p></w:document>";
        assert!(refused(&archive("word/document.xml", laughs)));
    }
}
