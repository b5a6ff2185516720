//! The schema of everything that a model answers with, as the components of an OpenAPI document: what the Python package
//! makes its result types from.

use memo_store::{
    AddedGraph, AddedRules, Breakdown, ChangeReport, ClassMembers, ClosestPassages, Completion,
    DigestReport, Document, DocumentText, EditReport, Explanation, Facts, ForgetPreview,
    FreezeReport, GraphStats, MemorizeReport, MemoryFill, MergeReport, Proof, RebuildReport,
    RecallReport, Receipt, Rule, RulesPreview, ScoreReport, Stats, TextMatches, Transaction,
    VerifyReport, WordClass,
};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(components(schemas(
    Document,
    DocumentText,
    Transaction,
    TextMatches,
    ClosestPassages,
    Stats,
    WordClass,
    ClassMembers,
    DigestReport,
    VerifyReport,
    MemorizeReport,
    ChangeReport,
    EditReport,
    MergeReport,
    RebuildReport,
    FreezeReport,
    Receipt,
    ForgetPreview,
    Proof,
    Completion,
    Explanation,
    Breakdown,
    MemoryFill,
    RecallReport,
    ScoreReport,
    Facts,
    Rule,
    RulesPreview,
    AddedGraph,
    AddedRules,
    GraphStats,
)))]
struct Results;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", Results::openapi().to_pretty_json()?);
    Ok(())
}
