package reporting

import (
	"fmt"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
)

// marked returns a sentence with the mark of what its sources do not bear out; of a table row it stands in the last cell.
func (w wordSet) marked(raw string, row bool) string {
	mark := ` \[` + w.unsupported + `\]`
	if cells, ok := strings.CutSuffix(strings.TrimRight(raw, " "), "|"); row && ok {
		return strings.TrimRight(cells, " ") + mark + " |"
	}
	return strings.TrimRight(raw, " ") + mark
}

// problem says what is wrong with a sentence, for the model that is to repair it.
func (w wordSet) problem(reason support.Reason, detail string) string {
	format, ok := w.problems[reason]
	if !ok {
		format = w.problems[support.ReasonWords]
	}
	if reason == support.ReasonWords {
		detail = ""
	}
	return fmt.Sprintf(format, detail)
}

func checkedEnglish(v *Verification, removed int) string {
	c := v.Counts
	note := " How this report was checked: "
	if v.Status != citation.StatusVerified {
		note += "the citations lead to sources of the run, but whether these say what is said here could not be checked (" + fold(v.Reason) + ")."
		return note + removedEnglish(removed)
	}
	if c.Sentences == 0 {
		return note + "it has no sentences with citations." + removedEnglish(removed)
	}
	note += "its " + count(c.Sentences, "sentence", "sentences") + " with citations were compared, without a model, with the stored text of what they cite: quotations, figures, dates, names, negations, wording. " +
		were(c.Supported) + " found to be supported"
	if c.Unverified > 0 {
		note += fmt.Sprintf(", %d could not be decided", c.Unverified)
	}
	if c.Unsupported > 0 {
		note += ", " + are(c.Unsupported) + " marked as unsupported"
	}
	note += "."
	if c.Repaired > 0 {
		note += fmt.Sprintf(" Of these, %s rewritten from the evidence after a first check.", were(c.Repaired))
	}
	if c.Removed > 0 {
		note += " " + count(c.Removed, "unsupported sentence was", "unsupported sentences were") + " taken out."
	}
	if c.FactsUncited > 0 {
		note += " " + count(c.FactsUncited, "further sentence with figures or names has", "further sentences with figures or names have") + " no citation."
	}
	if c.SourcesUnread > 0 {
		note += " The text of " + count(c.SourcesUnread, "source", "sources") + " could not be read."
	}
	return note + removedEnglish(removed)
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

func were(n int) string {
	if n == 1 {
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}

func removedEnglish(removed int) string {
	switch {
	case removed == 1:
		return " 1 marker or link was removed because no source of this run stands behind it."
	case removed > 1:
		return fmt.Sprintf(" %d markers or links were removed because no source of this run stands behind them.", removed)
	}
	return ""
}

func checkedChinese(v *Verification, removed int) string {
	c := v.Counts
	note := "本报告的核查方式："
	switch {
	case v.Status != citation.StatusVerified:
		note += "引用均指向本次研究的来源，但未能核查来源是否确实如此说（" + fold(v.Reason) + "）。"
	case c.Sentences == 0:
		note += "报告中没有带引用的句子。"
	default:
		note += fmt.Sprintf("不使用模型，将 %d 个带引用的句子逐一与所引来源的存档文本比对，包括引文、数字、日期、名称、否定和措辞。其中 %d 个得到支持", c.Sentences, c.Supported)
		if c.Unverified > 0 {
			note += fmt.Sprintf("，%d 个无法判定", c.Unverified)
		}
		if c.Unsupported > 0 {
			note += fmt.Sprintf("，%d 个标为无来源支持", c.Unsupported)
		}
		note += "。"
		if c.Repaired > 0 {
			note += fmt.Sprintf("其中 %d 个在首次核查后根据证据改写。", c.Repaired)
		}
		if c.Removed > 0 {
			note += fmt.Sprintf("删去了 %d 个无来源支持的句子。", c.Removed)
		}
		if c.FactsUncited > 0 {
			note += fmt.Sprintf("另有 %d 个含数字或名称的句子没有引用。", c.FactsUncited)
		}
		if c.SourcesUnread > 0 {
			note += fmt.Sprintf("有 %d 个来源的文本未能读取。", c.SourcesUnread)
		}
	}
	if removed > 0 {
		note += fmt.Sprintf("有 %d 处标记或链接因没有本次研究的来源支持而被删除。", removed)
	}
	return note
}
