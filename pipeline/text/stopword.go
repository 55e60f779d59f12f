package text

// stopWords are words without topical meaning: the English, German, French and Spanish lists of the Snowball project
// (snowballstem.org). Words with a meaning in another of these languages are left out ("die", "son", "mit" as the
// institute is in capitals).
var stopWords = set(`i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she
	her hers herself it its itself they them their theirs themselves what which who whom whose this that these those am
	is are was were be been being have has had having do does did doing would should could ought might must shall may a
	an the and but if or because as until while of at by for with about against between into through during before after
	above below to from up down in out on off over under again further then once here there when where why how all any
	both each few more most other some such no nor not only own same so than too very can cannot will just now also i'm
	you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll
	she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't
	shouldn't can't couldn't mustn't let's that's who's what's here's there's when's where's why's how's`,
	`aber als am auch auf aus bei beim bin bis bist da damit dann das dass daß dasselbe dazu dein dem den denn der des
	dich dieser diese dieses diesem diesen dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer
	für gegen gewesen habe haben hatte hatten hier hinter ich ihm ihn ihnen ihr ihre im in ist jede jeder jedes jene kann
	kein keine können könnte mein mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine selbst
	sich sie sind so solche soll sollte sondern sonst über um und uns unser unter viel vom von vor während waren was weil
	weiter welche wenn werde werden wie wieder will wir wird wo wurde wurden zu zum zur zwar zwischen`,
	`au aux avec ce ces cette dans de des du elle en et eux il ils je la le les leur leurs lui ma mais mes moi mon ne nos
	notre nous on ou où par pas pour qu que qui sa se ses sur ta te tes toi tu un une vos votre vous est sont été être
	avoir était étaient ont avait fut sera peut plus comme comment quel quelle quels quelles`,
	`el los las una unos unas del al lo por con para como más pero sus su ya o este esta estos estas ese esa porque entre
	cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra otros es soy ser
	fue son era está están ha han qué cuál cómo dónde quién`)

// StopWord reports whether a lower-case word has no topical meaning.
func StopWord(word string) bool { return stopWords[word] }
