//! The same for languages that write no spaces between words: phrases found inside runs of characters.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::Classes;
use super::class::{
    AI, CARD, DISCARD, IGNORE, PASSWORD, PHONE, PRIOR, PROMPT, RESTRICT, REVEAL, ROLE, RULES, SYSTEM, TOXIC, WITHOUT,
    YOU, YOUR,
};

pub(crate) static SPACELESS: LazyLock<Option<Spaceless>> = LazyLock::new(Spaceless::new);

const TABLE: &[(Classes, &str)] = &[
    (PHONE, "电话 電話 手机 手機 致电 联系 拨打 連絡 携帯 전화 휴대폰 연락처"),
    (CARD, "信用卡 银行卡 卡号 クレジットカード カード番号 카드"),
    (PASSWORD, "密码 密碼 パスワード 비밀번호"),
    (IGNORE, "忽略 无视 忘记 忘記 忘掉"),
    (IGNORE | DISCARD, "無視 忘れ 무시 잊어"),
    (PRIOR, "之前 以前 以上 上面 先前 前面 所有 全部 これまで 上記 すべて 前の 이전 위의 모든 앞의"),
    (RULES, "指令 指示 命令 规则 規則 提示 说明 ルール 지시 명령 규칙 지침"),
    (REVEAL, "显示 告诉 輸出 输出 泄露 透露 重复 表示し 教えて 出力 보여 알려 출력"),
    (SYSTEM, "系统 系統 システム 시스템"),
    (PROMPT, "提示词 提示 プロンプト 프롬프트"),
    (YOU | YOUR, "你 您 あなた 당신 너는"),
    (WITHOUT, "没有 不受 沒有 제한 없는"),
    (RESTRICT, "限制 约束 約束 道德 制限"),
    (AI, "人工智能 人工知能 모델 模型 助手"),
    (ROLE, "扮演 假装 演じて 역할"),
    (TOXIC, "傻逼 操你妈 他妈的 妈的 混蛋 王八蛋 死ね くそ 畜生 馬鹿野郎 씨발 개새끼 병신 좆"),
];

pub(crate) struct Spaceless {
    automaton: AhoCorasick,
    classes: Vec<Classes>,
}

impl Spaceless {
    /// The phrases are ours and few: building fails for none of the reasons there are.
    fn new() -> Option<Self> {
        let entries: Vec<(&str, Classes)> = TABLE
            .iter()
            .flat_map(|(classes, phrases)| phrases.split_whitespace().map(move |phrase| (phrase, *classes)))
            .collect();
        let automaton = AhoCorasick::new(entries.iter().map(|(phrase, _)| phrase)).ok()?;
        Some(Self { automaton, classes: entries.into_iter().map(|(_, classes)| classes).collect() })
    }

    pub(crate) fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, usize, Classes)> + 'a {
        self.automaton.find_iter(text).map(|found| {
            let classes = self.classes.get(found.pattern().as_usize()).copied().unwrap_or_default();
            (found.start(), found.end(), classes)
        })
    }
}
