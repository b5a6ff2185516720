//! Data that others made: who, under which terms, and in which form. Files are known by what they contain, so that a page credits
//! the right ones however they are called, and says so where it does not know a file.

use crate::inputs;
use std::path::Path;

/// A published set of data, or a file of it.
struct Source {
    /// The first digits of the BLAKE3 hash of a file.
    hash: &'static str,
    credit: &'static str,
}

const TOFU: &str = "TOFU: Maini, Feng, Schwarzschild, Lipton and Kolter, *TOFU: A Task of Fictitious Unlearning for LLMs*, 2024, arXiv:2401.06121; MIT. \
    The dataset `locuslab/TOFU` of Hugging Face, a JSON object with `question` and `answer` a line";

const PARAREL: &str = "ParaRel: Elazar, Kassner, Ravfogel, Ravichander, Hovy, Schütze and Goldberg, *Measuring and Improving Consistency in Pretrained Language Models*, TACL 9, 2021, \
    arXiv:2102.01017; MIT. Facts (those of T-REx) and patterns of its JSON files as tables: relation, subject and object; relation and pattern";

const KNOWN: [Source; 7] = [
    Source {
        hash: "d9a007fef6aefd7e",
        credit: "WikiText-2: Merity, Xiong, Bradbury and Socher, *Pointer Sentinel Mixture Models*, ICLR 2017, arXiv:1609.07843; text of Wikipedia, CC BY-SA. \
            The validation part, word tokens with `<unk>`, as published (`wiki.valid.tokens`)",
    },
    Source {
        hash: "3f242c06e448fd4e",
        credit: "LAMBADA: Paperno, Kruszewski, Lazaridou, Pham, Bernardi, Pezzelle, Baroni, Boleda and Fernández, *The LAMBADA dataset: Word prediction requiring a broad discourse context*, ACL 2016, \
            arXiv:1606.06031; CC BY. The test part in OpenAI's form, a JSON object with `text` a line",
    },
    Source { hash: "2e57bb47d9b9556b", credit: TOFU },
    Source { hash: "81e9e341917b0ae9", credit: TOFU },
    Source {
        hash: "9c4c6e2d107dacf7",
        credit: "CounterFact: Meng, Bau, Andonian and Belinkov, *Locating and Editing Factual Associations in GPT*, NeurIPS 2022, arXiv:2202.05262; MIT. \
            The first 2,000 records in the form of EasyEdit (arXiv:2308.07269): one rephrased and one neighbouring prompt each",
    },
    Source { hash: "0c95a1c35789b8f9", credit: PARAREL },
    Source { hash: "60ca8063c4bf5029", credit: PARAREL },
];

/// Credits the authors' own results, which a file of any form may have been made from; `columns` are those that an experiment reads.
pub(crate) fn authors(columns: &str) -> String {
    format!(
        "*Authors* are the paper's: Zanzotto, Ruzzetti, Xompero, Ranaldi, Venditti, Ranaldi, Giannone, Favalli and Romagnoli, *MeMo: Towards Language Models with Associative \
         Memory Mechanisms*, 2025, arXiv:2502.12851. Their points are those of the spreadsheets in their repository, `humancentricart/MeMo` on GitHub at commit `efd91cf` (CC BY-NC-SA 4.0), \
         saved as CSV with the columns renamed: {columns}."
    )
}

/// Credits for files, each set of data once, as Markdown; a folder counts as the files in it.
pub fn credits(paths: &[&Path]) -> Vec<String> {
    let mut files: Vec<std::path::PathBuf> = Vec::new();
    for path in paths {
        collect(path, 2, &mut files);
    }
    let mut credits: Vec<String> = Vec::new();
    for file in files {
        let known =
            inputs::hash(&file).and_then(|hash| KNOWN.iter().find(|k| hash.starts_with(k.hash)));
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let credit = known
            .map_or_else(|| format!("`{name}`: not known to the lab"), |k| k.credit.to_owned());
        if !credits.contains(&credit) {
            credits.push(credit);
        }
    }
    credits
}

/// The files of a folder and of folders in it, in order of their names.
fn collect(path: &Path, depth: usize, files: &mut Vec<std::path::PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        files.push(path.to_owned());
        return;
    };
    let mut entries: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for entry in entries.into_iter().filter(|entry| depth > 0 || entry.is_file()) {
        // Only what is data: other files of a folder are not what was read.
        let data = entry.is_dir() || known_kind(&entry);
        if data {
            collect(&entry, depth.saturating_sub(1), files);
        }
    }
}

fn known_kind(path: &Path) -> bool {
    let Some(hash) = inputs::hash(path) else { return false };
    KNOWN.iter().any(|known| hash.starts_with(known.hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_known_are_named_and_folders_give_what_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("story.txt");
        std::fs::write(&path, "The owl reads at night.").unwrap();
        assert_eq!(credits(&[&path, &path]), ["`story.txt`: not known to the lab"]);
        assert!(credits(&[folder.path()]).is_empty());
    }
}
