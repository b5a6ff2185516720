//! SVG, element by element, and its rendering.

use resvg::{tiny_skia, usvg};
use std::fmt::Write;
use std::sync::Arc;

/// Verdana is as wide as DejaVu Sans, so that text fits where a browser has only one of them.
const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

/// The colour of text and axes.
const INK: &str = "#222222";

/// Which end of a text its position is.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture being drawn.
pub(super) struct Canvas {
    out: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        let out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" font-family=\"{FONT}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        Canvas { out }
    }

    pub(super) fn finish(mut self) -> String {
        self.out += "</svg>\n";
        self.out
    }

    fn element(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{element}");
    }

    pub(super) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.styled_text(at, size, anchor, "", text);
    }

    pub(super) fn bold(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.styled_text(at, size, anchor, " font-weight=\"bold\"", text);
    }

    /// Text in a colour of its own.
    pub(super) fn coloured(&mut self, at: (f64, f64), size: f64, colour: &str, text: &str) {
        let (x, y) = at;
        let text = escaped(text);
        self.element(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"middle\" fill=\"{colour}\">{text}</text>"
        ));
    }

    /// Text that reads upwards, centred on its position.
    pub(super) fn upwards(&mut self, (x, y): (f64, f64), size: f64, text: &str) {
        let turned = format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"");
        self.styled_text((x, y), size, Anchor::Middle, &turned, text);
    }

    fn styled_text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, style: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let ((x, y), text) = (at, escaped(text));
        self.element(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{INK}\"{style}>{text}</text>"
        ));
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], colour: &str, width: f64, dashes: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        let dashes = if dashes.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{dashes}\"")
        };
        self.element(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\"{dashes}/>"
        ));
    }

    pub(super) fn rectangle(&mut self, at: (f64, f64), size: (f64, f64), fill: &str, line: &str) {
        let ((x, y), (width, height)) = (at, size);
        self.element(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\" stroke=\"{line}\"/>"
        ));
    }

    /// A closed shape around its points.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], fill: &str, line: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
        let points = points.join(" ");
        self.element(format_args!(
            "<polygon points=\"{points}\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"1.2\"/>"
        ));
    }

    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, fill: &str, line: &str) {
        self.element(format_args!(
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"1.2\"/>"
        ));
    }
}

/// About how wide a text is, rather too wide than too narrow.
pub(super) fn text_width(size: f64, text: &str) -> f64 {
    text.chars().count() as f64 * size * 0.61
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The pixels of an SVG as PNG, at `scale` times its size.
pub(super) fn render(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let pixels = |length: f32| (length * scale).round() as u32;
    let size = tree.size();
    let mut image = tiny_skia::Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or("it has no size")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut image.as_mut());
    image.encode_png().map_err(|error| error.to_string())
}
