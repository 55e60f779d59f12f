package reporting

import (
	"fmt"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
)

// marked returns a sentence with the mark of what its sources do not bear out; of a table row it stands in the last
// cell.
func (w wordSet) marked(raw string, row bool) string {
	mark := ` \[` + w.unsupported + `\]`
	if cells, ok := strings.CutSuffix(strings.TrimRight(raw, " "), "|"); row && ok {
		return strings.TrimRight(cells, " ") + mark + " |"
	}
	return strings.TrimRight(raw, " ") + mark
}

// problem says in one sentence what is wrong with a sentence, for the model that is to repair it.
func (w wordSet) problem(f support.Findings, j support.Judged) string {
	if f.Quotation.Result == support.Absent {
		return fmt.Sprintf(w.misquoted, f.Quotation.Missing)
	}
	if j.Wrong != "" {
		return j.Wrong
	}
	for _, g := range f.Figures {
		if g.Result == support.Absent {
			return fmt.Sprintf(w.noFigure, g.Text)
		}
	}
	return w.notSaid
}

func checkedEnglish(v *Verification, removed int) string {
	c := v.Counts
	note := " How this report was checked: "
	switch {
	case v.Status != citation.StatusVerified:
		return note + "the citations lead to sources of the run. Whether these sources say what is said here could not be checked (" +
			fold(v.Reason) + ")." + removedEnglish(removed)
	case c.Sentences == 0:
		return note + "it has no sentences with citations." + removedEnglish(removed)
	case c.Judged > 0:
		note += fmt.Sprintf("%d of %s confirmed: the sentence stands word for word in a source that it cites, "+
			"or a language model judged it and named words that stand there.", c.Supported, count(c.Sentences, "cited sentence is", "cited sentences are"))
	case c.Supported > 0:
		note += fmt.Sprintf("%d of %s word for word in a source that it cites.", c.Supported,
			count(c.Sentences, "cited sentence stands", "cited sentences stand"))
	default:
		note += "no cited sentence stands word for word in its source."
	}
	if c.Repaired > 0 {
		note += " " + count(c.Repaired, "sentence was", "sentences were") + " corrected."
	}
	if c.Removed > 0 {
		note += " " + count(c.Removed, "unsupported sentence was", "unsupported sentences were") + " removed."
	}
	if c.Unsupported > 0 {
		note += " " + count(c.Unsupported, "sentence is", "sentences are") + " marked as unsupported."
	}
	switch {
	case c.Unverified > 0 && c.Judged > 0:
		note += " " + count(c.Unverified, "sentence is", "sentences are") + " not confirmed."
	case c.Unverified > 0:
		note += " Of " + count(c.Unverified, "sentence", "sentences") +
			" only quotations, figures and dates were compared with the sources; no model judged the rest."
	}
	if c.FactsUncited > 0 {
		note += " " + count(c.FactsUncited, "further sentence with figures has", "further sentences with figures have") +
			" no citation."
	}
	if c.SourcesUnread > 0 {
		note += " The text of " + count(c.SourcesUnread, "source", "sources") + " could not be read."
	}
	return note + removedEnglish(removed)
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
		note += fmt.Sprintf("%d 个带引用的句子中，%d 个得到证实：", c.Sentences, c.Supported)
		if c.Judged > 0 {
			note += "句子在所引来源中逐字出现，或由语言模型判断并指出了来源中确有的原文。"
		} else {
			note += "句子在所引来源中逐字出现。"
		}
		if c.Repaired > 0 {
			note += fmt.Sprintf("修改了 %d 个句子。", c.Repaired)
		}
		if c.Removed > 0 {
			note += fmt.Sprintf("删去了 %d 个无来源支持的句子。", c.Removed)
		}
		if c.Unsupported > 0 {
			note += fmt.Sprintf("%d 个句子标为无来源支持。", c.Unsupported)
		}
		switch {
		case c.Unverified > 0 && c.Judged > 0:
			note += fmt.Sprintf("%d 个句子未能证实。", c.Unverified)
		case c.Unverified > 0:
			note += fmt.Sprintf("其余 %d 个句子只比对了引文、数字和日期，没有模型判断其内容。", c.Unverified)
		}
		if c.FactsUncited > 0 {
			note += fmt.Sprintf("另有 %d 个含数字的句子没有引用。", c.FactsUncited)
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
