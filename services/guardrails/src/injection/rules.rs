//! The signs and the rules, with their weights.

use crate::lexicon::Classes;
use crate::lexicon::class::{
    AI, ANYTHING, ARE, DEVELOPER, DISCARD, DO, EVADE, EVERYTHING, FOLLOW, FREE, FROM, IGNORE, LOOSE, MODE, NEW, NOT,
    NOW, ON, PERSONA, PRIOR, PROMPT, RESTRICT, REVEAL, ROLE, RULES as RULE_WORDS, SYSTEM, TELL, TOLD, USER, WHAT,
    WITHOUT, YOU, YOUR,
};

/// Words of certain classes, each at most so many other words behind the one before.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) weight: f32,
    pub(super) steps: &'static [(Classes, u32)],
}

const fn rule(name: &'static str, weight: f32, steps: &'static [(Classes, u32)]) -> Rule {
    Rule { name, weight, steps }
}

pub(super) const RULES: &[Rule] = &[
    rule("override", 1.0, &[(IGNORE, 0), (PRIOR, 3), (RULE_WORDS | LOOSE, 2)]),
    rule("override", 1.0, &[(IGNORE, 0), (YOUR, 2), (RULE_WORDS, 3)]),
    rule("override", 1.0, &[(IGNORE, 0), (RULE_WORDS, 4), (PRIOR | TOLD, 4)]),
    rule("override", 1.0, &[(IGNORE, 0), (LOOSE, 1), (PRIOR | TOLD, 3)]),
    rule("override", 1.0, &[(EVADE, 0), (PRIOR | YOUR, 3), (PROMPT, 2)]),
    rule("override", 1.0, &[(EVADE, 0), (YOUR, 2), (RULE_WORDS, 3)]),
    rule("override", 1.0, &[(PRIOR, 0), (RULE_WORDS, 3), (DISCARD, 3)]),
    rule("override-all", 0.7, &[(IGNORE, 0), (EVERYTHING, 1), (RULE_WORDS, 3)]),
    rule("disobey", 1.0, &[(NOT, 0), (FOLLOW, 1), (PRIOR | YOUR, 3), (RULE_WORDS | LOOSE, 3)]),
    rule("disobey-all", 0.6, &[(NOT, 0), (FOLLOW, 1), (EVERYTHING, 2), (RULE_WORDS, 2)]),
    rule("reveal", 1.0, &[(REVEAL, 0), (YOUR, 2), (PROMPT, 3)]),
    rule("reveal", 1.0, &[(REVEAL, 0), (PRIOR, 3), (PROMPT, 2)]),
    rule("reveal", 0.9, &[(REVEAL, 0), (SYSTEM, 2), (PROMPT, 1)]),
    rule("reveal", 0.9, &[(REVEAL, 0), (EVERYTHING, 2), (PROMPT, 2)]),
    rule("reveal", 0.9, &[(REVEAL, 0), (PROMPT, 3), (TOLD, 3)]),
    rule("ask-prompt", 0.9, &[(WHAT, 0), (YOUR, 3), (PROMPT, 2)]),
    rule("ask-prompt", 0.9, &[(WHAT, 0), (YOUR, 3), (SYSTEM, 2), (PROMPT, 1)]),
    rule("forbidden", 0.9, &[(TOLD, 0), (NOT, 2), (REVEAL | TELL, 2)]),
    rule("conceal", 0.9, &[(NOT, 0), (TELL, 1), (USER, 4)]),
    rule("you-are-now", 0.5, &[(YOU, 0), (ARE, 1), (NOW, 1)]),
    rule("from-now-on", 0.4, &[(FROM, 0), (NOW, 0), (ON, 0)]),
    rule("role", 0.2, &[(ROLE, 0), (YOU | ARE | AI, 4)]),
    rule("persona", 0.5, &[(PERSONA, 0)]),
    rule("persona-mode", 0.5, &[(PERSONA, 0), (MODE, 1)]),
    rule("persona-free", 0.5, &[(PERSONA, 0), (ANYTHING, 4)]),
    rule("persona-free", 0.5, &[(PERSONA, 0), (IGNORE | EVADE, 4), (RULE_WORDS, 4)]),
    rule("do-anything", 0.9, &[(DO, 0), (ANYTHING, 0), (NOW, 0)]),
    rule("developer-mode", 0.5, &[(DEVELOPER, 0), (MODE, 0), (MODE | NOW, 4)]),
    rule("unrestricted", 0.3, &[(FREE, 0)]),
    rule("unrestricted-role", 0.6, &[(ROLE, 0), (FREE, 8)]),
    rule("unrestricted-ai", 0.7, &[(AI, 0), (WITHOUT | NOT, 4), (RESTRICT, 4)]),
    rule("without-rules", 0.5, &[(YOU, 0), (WITHOUT | NOT, 4), (FOLLOW, 2), (RESTRICT | RULE_WORDS, 5)]),
    rule("new-rules", 0.5, &[(NEW, 0), (RULE_WORDS, 0)]),
];

/// What chat templates are made of, whatever its case.
pub(super) const SIGNS: &[(&str, &str, f32)] = &[
    ("<|im_start|>", "template", 1.0),
    ("<|im_end|>", "template", 1.0),
    ("<|system|>", "template", 1.0),
    ("<|user|>", "template", 1.0),
    ("<|assistant|>", "template", 1.0),
    ("<|endoftext|>", "template", 1.0),
    ("<|eot_id|>", "template", 1.0),
    ("<|start_header_id|>", "template", 1.0),
    ("<|begin_of_text|>", "template", 1.0),
    ("<start_of_turn>", "template", 1.0),
    ("<end_of_turn>", "template", 1.0),
    ("[inst]", "template", 1.0),
    ("[/inst]", "template", 1.0),
    ("<<sys>>", "template", 1.0),
    ("<</sys>>", "template", 1.0),
    ("### system:", "template-heading", 0.6),
    ("### instruction:", "template-heading", 0.6),
    ("<system>", "template-heading", 0.6),
    ("</system>", "template-heading", 0.6),
    ("{system:", "template-heading", 0.6),
    ("[system]", "template-heading", 0.6),
    ("\nsystem:", "template-heading", 0.6),
    ("begin system message", "template-heading", 0.6),
    ("system override", "template-heading", 0.6),
    ("end of prompt", "template-heading", 0.6),
];
