//! The text of a page of HTML, as a reader sees it: without tags, scripts and styles, with a line for each block.

use html5gum::{DefaultEmitter, Token, Tokenizer};

/// Elements whose text is not for readers.
const SILENT: [&[u8]; 8] =
    [b"script", b"style", b"template", b"noscript", b"svg", b"math", b"iframe", b"object"];

/// Elements within a line; all others begin a new one.
const INLINE: [&[u8]; 30] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"big", b"cite", b"code", b"data", b"del", b"dfn", b"em",
    b"font", b"i", b"img", b"ins", b"kbd", b"label", b"mark", b"q", b"s", b"samp", b"small",
    b"span", b"strong", b"sub", b"sup", b"time", b"u", b"wbr",
];

/// Returns the text of a page. Whatever the markup is, there is an answer: browsers read everything, too.
pub(super) fn text(html: &str) -> String {
    let mut emitter = DefaultEmitter::default();
    // What a script says is no markup.
    emitter.naively_switch_states(true);
    let mut text = Lines::default();
    let mut silent: Option<(Vec<u8>, usize)> = None;
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match (&mut silent, token) {
            (Some((name, depth)), Token::StartTag(tag))
                if *tag.name == *name && !tag.self_closing =>
            {
                *depth += 1;
            }
            (Some((name, depth)), Token::EndTag(tag)) if *tag.name == *name => {
                *depth -= 1;
                if *depth == 0 {
                    silent = None;
                }
            }
            (None, Token::StartTag(tag)) => {
                if SILENT.contains(&&**tag.name) && !tag.self_closing {
                    silent = Some((tag.name.to_vec(), 1));
                }
                text.tag(&tag.name, true);
            }
            (None, Token::EndTag(tag)) => text.tag(&tag.name, false),
            (None, Token::String(string)) => text.push(&String::from_utf8_lossy(&string)),
            _ => {}
        }
    }
    text.finish()
}

/// Text in lines; white space is one space, but in preformatted text.
#[derive(Default)]
struct Lines {
    text: String,
    /// Line breaks and a space that are due before the next letter.
    breaks: usize,
    space: bool,
    preformatted: usize,
}

impl Lines {
    fn tag(&mut self, name: &[u8], opens: bool) {
        match name {
            b"pre" | b"textarea" if opens => self.preformatted += 1,
            b"pre" | b"textarea" => self.preformatted = self.preformatted.saturating_sub(1),
            _ => {}
        }
        match name {
            b"br" => self.breaks += 1,
            // Cells stand beside each other.
            b"td" | b"th" => self.space = true,
            b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"pre" | b"blockquote"
            | b"ul" | b"ol" | b"table" => {
                self.breaks = self.breaks.max(2);
            }
            name if INLINE.contains(&name) => {}
            _ => self.breaks = self.breaks.max(1),
        }
    }

    fn push(&mut self, string: &str) {
        if self.preformatted > 0 {
            self.due();
            self.text.push_str(string);
            return;
        }
        for c in string.chars() {
            match c {
                // A space that does not break is one to a reader; a hyphen that may is none.
                '\u{a0}' => self.space = true,
                '\u{ad}' => {}
                c if c.is_ascii_whitespace() => self.space = true,
                c => {
                    self.due();
                    self.text.push(c);
                }
            }
        }
    }

    fn due(&mut self) {
        let (breaks, space) = (std::mem::take(&mut self.breaks), std::mem::take(&mut self.space));
        if self.text.is_empty() {
            return;
        }
        if breaks > 0 {
            let there = self.text.bytes().rev().take_while(|&byte| byte == b'\n').count();
            self.text.extend(std::iter::repeat_n('\n', breaks.min(2).saturating_sub(there)));
        } else if space && !self.text.ends_with(['\n', ' ']) {
            self.text.push(' ');
        }
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_page_is_what_a_reader_sees() {
        let page = "<!doctype html><html><head><title>Owls &amp; moons</title><style>p { color: red }</style>\
                    <script>if (1 < 2) document.write(\"<p>no</p>\")</script></head>\
                    <body><h1>The  owl</h1>\n<p>She <em>reads</em>&nbsp;at\n ni&shy;ght.<br>Then she sleeps &#8212; here.</p>\
                    <ul><li>one<li>two</ul><!-- never --><pre>  a\n  b</pre>\
                    <table><tr><td>x</td><td>y</td></tr><tr><td>z</td></tr></table></body></html>";
        assert_eq!(
            text(page),
            "Owls & moons\n\nThe owl\n\nShe reads at night.\nThen she sleeps — here.\n\none\ntwo\n\n  a\n  b\n\nx y\nz\n"
        );
    }

    #[test]
    fn whatever_it_is_there_is_an_answer() {
        assert_eq!(text(""), "");
        assert_eq!(text("<p>"), "");
        assert_eq!(text("plain < text & more"), "plain < text & more\n");
        assert_eq!(text("<svg><svg></svg>no</svg>yes"), "yes\n");
        assert_eq!(text("<script>never closed"), "");
        let deep = "<div>".repeat(100_000) + "deep";
        assert_eq!(text(&deep), "deep\n");
    }
}
