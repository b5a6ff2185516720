//! The printed form of the demo.

use super::numbers::Numbers;
use super::sentence::{Query, Sentence};
use super::tour::Tour;
use super::{Demo, Emitted};
use crate::output::{FAINT, GOOD, TITLE, styled};
use std::fmt::{Display, Formatter, Result};

impl Display for Demo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{}", self.tour)?;
        let codes = format!("Gaussian codes of dimension {}, seed {}", self.dim, self.seed);
        writeln!(f, "The paper's worked examples {}\n", styled(FAINT, format!("({codes})")))?;
        write!(f, "{}\n{}", self.sentence, self.numbers)
    }
}

impl Display for Tour {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let title = format!("A tour, on an archive of {} short texts", self.documents);
        writeln!(f, "{} {}", title, styled(FAINT, "(in a temporary folder, gone afterwards)"))?;
        for (k, step) in self.steps.iter().enumerate() {
            writeln!(f, "\n{}\n", styled(TITLE, format!("{}. {}", k + 1, step.what)))?;
            for run in &step.commands {
                writeln!(f, "  {} {}", styled(FAINT, "$"), run.command)?;
                for line in run.shown.lines() {
                    writeln!(f, "  {line}")?;
                }
            }
            if let Some(so) = step.so {
                writeln!(f, "\n  {}", styled(GOOD, so))?;
            }
        }
        Ok(())
    }
}

/// A weight with two decimals, and without the sign of a rounded −0.00.
fn two(weight: f32) -> String {
    let text = format!("{weight:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

/// A weight beside the paper's, with its expected error where that is known.
fn against(emitted: &Emitted, paper: f32, deviation: Option<f64>) -> String {
    let weight = styled(GOOD, format!("{}  {:.2}", emitted.token, emitted.weight));
    let off = deviation.map(|d| format!(" (±{:.2} at this d)", d * f64::from(paper)));
    format!("{weight}   {}", styled(FAINT, format!("paper: {paper}{}", off.unwrap_or_default())))
}

impl Display for Sentence {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let title = format!("One memory, windows of {} words (section 3.1)", self.heads);
        writeln!(f, "{}\n", styled(TITLE, title))?;
        writeln!(f, "  memorize  {}\n", self.text)?;
        let width = self.pairs.iter().map(|p| p.window.len()).max().unwrap_or(0);
        let header = |q: &Query| format!("{:>14}", format!("…{}", last_word(q.window)));
        let columns: Vec<String> = self.queries.iter().map(header).collect();
        writeln!(
            f,
            "  {:width$}    {:12}{}",
            "stored window",
            "next",
            styled(FAINT, columns.concat())
        )?;
        for (k, pair) in self.pairs.iter().enumerate() {
            write!(f, "  {:width$}  → {:12}", pair.window, pair.next)?;
            for query in &self.queries {
                let share = query.keys[k];
                let shown = format!("{:>14}", two(share));
                write!(
                    f,
                    "{}",
                    if share > 0.5 { styled(GOOD, shown) } else { styled(FAINT, shown) }
                )?;
            }
            writeln!(f)?;
        }
        writeln!(f, "\n  The last columns: how much of each stored pair a query's key reads.\n")?;
        for query in &self.queries {
            writeln!(
                f,
                "  {:24}→ {}",
                query.window,
                against(&query.emitted, query.paper, Some(self.deviation))
            )?;
        }
        writeln!(f, "\n  forget    the sentence")?;
        let left = format!("physics  {}", two(self.weight_after_forgetting));
        writeln!(f, "  {:24}→ {left}", self.queries[0].window)
    }
}

impl Display for Numbers {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let title = format!("{} layers, {} heads (section 3.2)", self.layers, self.heads);
        writeln!(f, "{}\n", styled(TITLE, title))?;
        writeln!(f, "  memorize  {}\n", spaced(&self.text))?;
        let header =
            format!("{:8}{:24}{:20}emits", "layer", "window, in blocks", "recalled (cosine)");
        writeln!(f, "  {}", styled(FAINT, header))?;
        for layer in &self.trace {
            let blocks: Vec<String> =
                layer.blocks.iter().map(|b| format!("[{}]", spaced(b))).collect();
            let cosines: Vec<String> = layer.cosines.iter().map(|c| format!("{c:.2}")).collect();
            let emitted = format!("{}  {:.2}", layer.emitted.token, layer.emitted.weight);
            writeln!(
                f,
                "  {:<8}{:24}{:20}{emitted}",
                layer.number,
                blocks.join(" "),
                cosines.join(" ")
            )?;
        }
        let context = spaced(&self.text[..8]);
        writeln!(f, "\n  {context:24}→ {}\n", against(&self.emitted, self.paper, None))?;
        writeln!(f, "  memorize  {}", self.other_text.join(" "))?;
        let dropped =
            format!("inner sequences: {} → {}", self.sequences, self.sequences_after_forgetting);
        writeln!(f, "  forget    {}   {}", spaced(&self.text), styled(FAINT, dropped))?;
        writeln!(f, "  {context:24}→ 9  {}", two(self.weight_after_forgetting))?;
        let (before, after) = (&self.other_before, &self.other_after);
        let kept = styled(GOOD, format!("{}  {:.2}", after.token, after.weight));
        let before = styled(FAINT, format!("before: {}  {:.2}", before.token, before.weight));
        writeln!(f, "  {:24}→ {kept}   {before}", self.other_text[..8].join(" "))
    }
}

fn spaced(tokens: &[u32]) -> String {
    tokens.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn last_word(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or(text)
}
