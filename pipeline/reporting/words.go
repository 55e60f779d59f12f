package reporting

import (
	"fmt"
	"strings"

	"nightdesk/topicqueue"
)

// wordSet holds the fixed texts of a report in one language. They are the only sentences of an extractive report that
// are not quotes.
type wordSet struct {
	bestMatch, conclusion, gaps, references, background, untitled, disagree string

	failed, nothing, notDone, unfinished string // why a block is a gap
	nothingFor                           string // sentence: a section of a template for which there is nothing
	reason                               string // format of a reason that somebody gave: kind, reason

	genres map[string]string // of sources; a missing one is called as topicqueue calls it

	changes changeWords

	writing  string                                      // event
	written  func(sections, words, citations int) string // event
	gapsLead string
	quoted   func(missing []string) string                    // opening of an extractive report; missing: words of the topic that no quote has
	opening  func(topic string, claims, documents int) string // opening where the model wrote none
	closing  func(sections, citations, gaps int) string       // conclusion where the model wrote none

	figure func(n int, title string) string // caption

	madeQuoted  func(s Statistics, quotes int) string // note below an extractive report
	notReviewed string                                // goes on with either note
	// note below a report that a model wrote; local are the steps that it failed at, all of them when nothing was written
	madeWritten func(s Statistics, local []string, all bool) string
	// goes on with it: how the report was checked; removed are markers and links that nothing stands behind
	checked func(v *Verification, removed int) string

	unsupported string // mark behind a sentence that its sources do not say

	misquoted, noFigure, notSaid string // for the model that repairs: what is wrong with a sentence
}

func (w wordSet) because(kind, reason string) string {
	if reason == "" {
		return kind
	}
	return fmt.Sprintf(w.reason, kind, strings.TrimRight(reason, ".。"))
}

// wordsFor returns the texts for a BCP 47 tag: Chinese for zh, English for all others.
func wordsFor(language string) wordSet {
	if tag, _, _ := strings.Cut(strings.ToLower(language), "-"); tag == "zh" {
		return chinese
	}
	return english
}

// count writes a number with its noun: "1 source", "3 sources".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

var english = wordSet{
	changes: englishChanges, bestMatch: "Best match", conclusion: "Conclusion", gaps: "Gaps", references: "References",
	background: "Background", untitled: "Report", disagree: "Where sources disagree",
	nothingFor: "The research found nothing on this that no other section says.",
	failed:     "the research failed", nothing: "nothing usable was found", notDone: "it was not researched",
	unfinished: "the research was not finished",
	reason:     "%s (%s)",
	writing:    "Writing the report",
	written: func(sections, words, citations int) string {
		return fmt.Sprintf("Report written: %s, %s, %s cited", count(sections, "section", "sections"), count(words, "word", "words"), count(citations, "passage", "passages"))
	},
	gapsLead: "This report does not answer everything that was planned:",
	quoted: func(missing []string) string {
		opening := "These are the passages that match the topic best, quoted word for word. No model judged whether they answer it."
		if n := len(missing); n > 1 {
			opening += " None of them contains “" + strings.Join(missing[:n-1], "”, “") + "” or “" + missing[n-1] + "”."
		} else if n == 1 {
			opening += " None of them contains “" + missing[0] + "”."
		}
		return opening
	},
	opening: func(topic string, claims, documents int) string {
		return fmt.Sprintf("This report sets out what was found on the topic “%s”. It rests on %s from %s.",
			topic, count(claims, "statement", "statements"), count(documents, "source", "sources"))
	},
	closing: func(sections, citations, gaps int) string {
		above := "the section"
		if sections != 1 {
			above = fmt.Sprintf("the %d sections", sections)
		}
		s := fmt.Sprintf("What the sources say is set out in %s above, with references to %s.", above, count(citations, "passage", "passages"))
		if gaps > 0 {
			s += " What could not be answered is listed under Gaps."
		}
		return s
	},
	figure: func(n int, title string) string {
		return strings.TrimSuffix(fmt.Sprintf("Figure %d: %s", n, title), ": ")
	},
	notReviewed: " Whether the evidence has gaps was not checked at the end.",
	madeQuoted: func(s Statistics, quotes int) string {
		note := fmt.Sprintf("How this report was made: the sources were searched and ranked by words, without a language model. It quotes %s from %s.",
			count(quotes, "passage", "passages"), count(s.Documents, "document", "documents"))
		if s.ClaimsLeftOut > 0 {
			note += fmt.Sprintf(" %s ranked lower and left out.", count(s.ClaimsLeftOut, "paragraph was", "paragraphs were"))
		}
		return note
	},
	checked:     checkedEnglish,
	unsupported: "unsupported",
	misquoted:   "The quotation “%s” does not stand word for word in the source.",
	noFigure:    "The source does not have the figure “%s”.",
	notSaid:     "The source does not say this.",
	madeWritten: func(s Statistics, local []string, all bool) string {
		cited := fmt.Sprintf("it cites %s of %s.", count(s.Citations, "passage", "passages"), count(s.Documents, "source", "sources"))
		claims := count(s.Claims, "claim that was", "claims that were")
		if all {
			return "How this report was made: a language model should have written it and gave no usable answer. It was put together from " +
				claims + " extracted from the sources before; " + cited
		}
		note := "How this report was made: a language model wrote it from " + claims + " extracted from the sources; " + cited
		if len(local) > 0 {
			parts := "these parts were"
			if len(local) == 1 {
				parts = "this part was"
			}
			note += " The model failed at: " + strings.Join(local, ", ") + "; " + parts + " put together from the extracted claims."
		}
		return note
	},
}

var chinese = wordSet{
	changes: chineseChanges, bestMatch: "最相关的段落", conclusion: "结论", gaps: "未覆盖的内容", references: "参考文献",
	background: "背景", untitled: "报告", disagree: "来源之间的分歧",
	genres: map[string]string{
		topicqueue.GenrePaper: "论文", topicqueue.GenrePreprint: "预印本", topicqueue.GenreDocumentation: "文档", topicqueue.GenreReference: "参考资料",
		topicqueue.GenreNews: "新闻", topicqueue.GenreForum: "论坛", topicqueue.GenreBlog: "博客", topicqueue.GenreGovernment: "政府", topicqueue.GenreOrganisation: "机构",
		topicqueue.GenreRepository: "代码仓库", topicqueue.GenreDataset: "数据集", topicqueue.GenreVideo: "视频", topicqueue.GenreSocial: "社交媒体", topicqueue.GenreShop: "商店",
	},
	nothingFor: "关于这一点，研究没有找到其他章节未提及的内容。",
	failed:     "研究失败", nothing: "未找到可用的证据", notDone: "尚未研究",
	unfinished: "研究未完成",
	reason:     "%s（%s）",
	writing:    "正在撰写报告",
	written: func(sections, words, citations int) string {
		return fmt.Sprintf("报告已完成：%d 个章节，%d 字，引用 %d 处", sections, words, citations)
	},
	gapsLead: "本报告未能回答计划中的全部内容：",
	quoted: func(missing []string) string {
		opening := "以下是与主题最相关的段落，逐字引用。未经模型判断它们是否回答了问题。"
		if len(missing) > 0 {
			opening += "这些段落未提及“" + strings.Join(missing, "”“") + "”。"
		}
		return opening
	},
	opening: func(topic string, claims, documents int) string {
		return fmt.Sprintf("本报告汇总了关于“%s”的研究结果，依据 %d 个来源中的 %d 条陈述。", topic, documents, claims)
	},
	closing: func(sections, citations, gaps int) string {
		above := "上文章节"
		if sections != 1 {
			above = fmt.Sprintf("上文的 %d 个章节", sections)
		}
		s := fmt.Sprintf("各来源的内容见%s，共引用 %d 处。", above, citations)
		if gaps > 0 {
			s += "未能回答的问题列于“未覆盖的内容”。"
		}
		return s
	},
	figure: func(n int, title string) string {
		return strings.TrimSuffix(fmt.Sprintf("图 %d：%s", n, title), "：")
	},
	notReviewed: "最后未检查证据是否有缺口。",
	madeQuoted: func(s Statistics, quotes int) string {
		note := fmt.Sprintf("本报告的生成方式：检索来源并按词语排序，未使用语言模型。引用了 %d 个文档的 %d 个段落。", s.Documents, quotes)
		if s.ClaimsLeftOut > 0 {
			note += fmt.Sprintf("另有 %d 段排名较低，未收录。", s.ClaimsLeftOut)
		}
		return note
	},
	checked:     checkedChinese,
	unsupported: "无来源支持",
	misquoted:   "引文“%s”在来源中没有逐字出现。",
	noFigure:    "来源中没有数字“%s”。",
	notSaid:     "来源没有这样说。",
	madeWritten: func(s Statistics, local []string, all bool) string {
		cited := fmt.Sprintf("引用了 %d 个来源的 %d 处。", s.Documents, s.Citations)
		if all {
			return fmt.Sprintf("本报告的生成方式：本应由语言模型撰写，但模型未给出可用的回答。报告由此前从来源中提取的 %d 条陈述直接组成，", s.Claims) + cited
		}
		note := fmt.Sprintf("本报告的生成方式：由语言模型根据从来源中提取的 %d 条陈述撰写，", s.Claims) + cited
		if len(local) > 0 {
			note += "模型未能完成：" + strings.Join(local, "、") + "；这些部分由提取的陈述直接组成。"
		}
		return note
	},
}
