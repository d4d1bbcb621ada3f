//! Questions of the server to the client, on the stream of a call. When the client has gone nobody can answer them, so
//! that the calls that wait for an answer end as well.

use std::collections::HashMap;

use serde_json::Value;

#[derive(Default)]
pub struct Questions {
    open: HashMap<String, Question>,
    /// No answer can come any more.
    over: bool,
}

struct Question {
    /// The id of the call that asks.
    call: String,
    /// The client's answer is on its way to the server.
    answered: bool,
}

impl Questions {
    /// `false`: nobody is there to answer.
    pub fn asked(&mut self, question: &Value, call: &str) -> bool {
        let asked = Question { call: call.to_owned(), answered: false };
        self.open.entry(question.to_string()).or_insert(asked);
        !self.over
    }

    pub fn answered(&mut self, question: &Value) {
        if let Some(question) = self.open.get_mut(&question.to_string()) {
            question.answered = true;
        }
    }

    /// The server has taken an answer, or has not: then the question is open again. The call that waits in vain, if no
    /// other answer can come.
    pub fn judged(&mut self, question: &Value, taken: bool) -> Option<String> {
        let id = question.to_string();
        if taken {
            self.open.remove(&id);
            return None;
        }
        let question = self.open.get_mut(&id)?;
        question.answered = false;
        self.over.then(|| question.call.clone())
    }

    /// The client has gone: the calls that wait in vain.
    pub fn end(&mut self) -> Vec<String> {
        self.over = true;
        self.open.values().filter(|question| !question.answered).map(|question| question.call.clone()).collect()
    }

    /// A call is over. `true`: it still waited for an answer.
    pub fn forget(&mut self, call: &str) -> bool {
        self.open.extract_if(|_, question| question.call == call).count() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_call_that_nobody_can_answer_waits_in_vain() {
        let mut questions = Questions::default();
        for (question, call) in [("open", "1"), ("sent", "2"), ("taken", "3")] {
            assert!(questions.asked(&json!(question), call));
        }
        for question in ["sent", "taken"] {
            questions.answered(&json!(question));
        }
        assert_eq!(questions.judged(&json!("taken"), true), None);
        assert_eq!(questions.end(), ["1"]);
        assert_eq!(questions.judged(&json!("sent"), false), Some("2".to_owned()), "the answer was refused");
        assert!(!questions.asked(&json!("late"), "4"));
        assert_eq!(["1", "2", "3"].map(|call| questions.forget(call)), [true, true, false]);
    }
}
