//! MeMo: a language model that is a memory.
