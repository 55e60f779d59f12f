package prompts

import (
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// choose returns the templates for a BCP 47 tag and the name of the language for prose.
func choose(lang string) (templates, string) {
	sets := inUse()
	english, chinese := sets["en"], sets["zh"]
	tag, err := language.Parse(lang)
	if err != nil || tag.IsRoot() {
		return english(), "English"
	}
	if base, _ := tag.Base(); base.String() == "zh" {
		if script, _ := tag.Script(); script.String() == "Hant" {
			return chinese(), "繁体中文"
		}
		return chinese(), "简体中文"
	}
	if name := display.English.Tags().Name(tag); name != "" && name != "Unknown language" {
		return english(), name
	}
	return english(), "the language with the code " + tag.String()
}
