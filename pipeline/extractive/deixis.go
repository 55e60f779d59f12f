package extractive

import "strings"

// pointsAway reports a sentence that is complete and yet useless apart from its page: it points above or below, to an
// example or a figure that is not quoted with it, or it leads in to something.
func pointsAway(s sentence) bool {
	low := " " + flat(s.Text) + " "
	for _, x := range awayPhrase {
		if strings.Contains(low, x) {
			return true
		}
	}
	trimmed := strings.TrimRight(low, " .!?)\"'”")
	for _, x := range awayEnd {
		if strings.HasSuffix(trimmed, x) {
			return true
		}
	}
	for i := 0; i+1 < len(s.words); i++ { // the above example, the example above, the table below
		if deicticNoun[s.words[i].low] && (s.words[i+1].low == "above" || s.words[i+1].low == "below") ||
			deicticNoun[s.words[i+1].low] && (s.words[i].low == "above" || s.words[i].low == "following") {
			return true
		}
	}
	return false
}

var awayPhrase = []string{
	" as shown ", " as described ", " as mentioned", " as discussed ", " as noted ", " as explained ", " as stated ", " as previously ", " previously stated", " as seen ", " as follows",
	" as we saw ", " as we have seen", " we saw ", " we will see", " we'll see", " you will see", " you'll see", " shown above", " shown below", " shown here", " shown in ",
	" described above", " described below", " described here", " described in ", " mentioned above", " mentioned earlier", " discussed above", " discussed below",
	" discussed in ", " discussed later", " listed above", " listed below", " listed in ", " listed here", " given above", " given below", " explained below", " explained above", " explained in ",
	" documented below", " documented in ", " documented above", " defined above", " defined below", " detailed below", " outlined below", " outlined above", " noted above", " noted below",
	" see above", " see below", " see also", " see section", "; see ", ", see ", " for more information", " for more details", " for details", " this material", " this code", " you've now", " you’ve now", " you have now", " we have now", " now you ", " the above ", " the below ", " above-mentioned", " aforementioned", " the following", " following example",
	" following code", " following table", " following list", " following command", " following are ", " following is ", " in this section", " in this chapter", " in this document",
	" in this page", " in this article", " in this tutorial", " in this guide", " in this manual", " on this page", " in the next section", " next section", " previous section",
	" in the example", " this example", " the example ", " our example", " previous example", " for the previous ", " these examples", " the examples", " the figure",
	" later in this", " earlier in this", " here is ", " here are ", " here's ", " below is ", " below are ", " above is ", " above are ", " (above)", " (below)", " above:", " below:",
	" this command", " this function", " this method", " this option", " this parameter", " this module", " this class", " this setting", " this variable", " this attribute", " this flag", " this macro", " this value", " this type",
	" elsewhere in ", " left to the reader", " for the rest of ", " let's ", " let us ", " we now", " now that you", " now that we", " we can look", " we will look", " you have learned", " you've learned", " you’ve learned", " you have seen", " we have seen", " we showed", " that we showed", " described at ", " documented at ", " table shows", " table also shows", " figure shows", " diagram shows", " example shows", " example above", " recall that", " by now", " in this example", " in the code ",
	" siehe oben", " siehe unten", " wie oben", " im folgenden", " folgende ", " ci-dessus", " ci-dessous", " a continuación", " siguiente ",
}

var awayEnd = []string{" above", " below", " here", " later", " the following", " as follows", " now", " this", " these", " earlier", " previously", " this way", " that work", " that paper", " that proposal"}

var deicticNoun = set(`example examples table figure code list listing diagram section paragraph command commands output query
	queries program snippet script statement statements function rule rules note notes discussion description steps
	options settings values method methods case cases formula equation syntax`)
