package extractive

// Word lists. They are small on purpose: each entry earned its place by a bad sentence that it keeps out.

// admonition labels are printed before a paragraph and belong to no sentence.
var admonition = set(`note notes warning caution tip hint important danger attention remark hinweis achtung nota remarque
	advertencia 注意 注`)

// openAbbreviation never ends a sentence.
var openAbbreviation = set(`e.g i.e eg ie cf viz vs resp approx ca dr mr mrs ms prof st hon rev mt eds ff incl excl
	dept univ assn esp a.k.a aka w.r.t abbr z.b d.h u.a i.d.r bzw ggf evtl vgl sog inkl zzgl nr hrsg mio mrd zb dh p.ex
	mme mlle sr sra srta dra ud uds pág págs núm p.ej p.ej`)

// countedAbbreviation does not end a sentence when a number, a letter or a bracket follows it.
var countedAbbreviation = set(`no nos fig figs sec secs eq eqs ch chap vol vols pp p pg art thm lem prop tab app ref refs ver
	v al ed para paras kap abb bd s n nn l ll bk pt`)

// closingAbbreviation may end a sentence as well, and many of them are words of code.
var closingAbbreviation = set(`etc inc ltd corp co llc jr plc bros a.m p.m usw min max avg temp col gen rep sen gov def syn
	ant orig repr transl trans jan feb mar apr jun jul aug sep sept oct nov dec str abs env av ej ee`)

var germanArticle = set(`am der die das dem den des im vom zum beim bis ab seit und ein eine einen jeder jeden`)

// starter are words that begin sentences and are hardly ever names: they tell "Plan B. The" from "J. Smith".
var starter = set(`the a an it its this that these those he she they we you in on at if when for from to by with however
	but and there here as after before since while although because also some many most all each every not one what
	which who how why use using see note both then thus therefore such other any only no of their our your
	der die das ein eine es er sie wir im bei mit für wenn auch le la les un une il elle ils elles dans pour el los las
	una en para por si`)

// stopWords carry no topic.
var stopWords = set(`a about above across after again against all almost along already also although always am among an
	and another any anybody anyone anything are aren't around as at away be became because become been before behind
	being below between both but by came can can't cannot could couldn't did didn't do does doesn't doing don't done
	down during each either else ever every everything few for from further get gets getting given gives go goes going
	got had hadn't has hasn't have haven't having he hence her here hers herself him himself his how however i i'd i'll
	i'm i've if in indeed instead into is isn't it it'd it'll it's its itself just least less let let's like likely
	may maybe me might more moreover most much must my myself nearly neither never no nobody nor not nothing now of off
	often on once one ones only onto or other others otherwise our ours ourselves out over own per perhaps put quite
	rather really same say says see seem seems seen several shall she should shouldn't since so some somebody someone
	something sometimes soon still such than that that's the their theirs them themselves then there there's thereby
	therefore these they they're this those though through throughout thus to together too toward towards under unless
	until up upon us very via was wasn't way we we're well were weren't what what's whatever when whenever where
	whereas wherever whether which while who whoever whole whom whose why will with within without won't would
	wouldn't yes yet you you'd you'll you're you've your yours yourself e.g i.e eg ie etc vs cf`,
	// German, French and Spanish function words that mean nothing in English.
	`de des del en der das und ist sind nicht mit von für auf ein eine einer eines einem einen dem im zu auch als wird werden sich bei
	oder aus nach wenn durch über kann sein wie aber nur noch zum zur vom beim dass daß diese dieser dieses sowie
	können einem ihre seine ihr wir sie ich du
	le la les et est sont une du dans pour par sur avec que qui ne pas au aux ce cette ces il elle ils elles leur leurs
	plus ou où ses être peut mais donc comme nous vous été
	el los las es una del para por con se al como más su sus lo está puede ha fue pero muy entre también cuando donde
	ser este esta estos estas porque ese esa`)

func stopWord(low string) bool { return stopWords[low] }

// generic words stand in questions about anything: they say what kind of answer is wanted, not about what.
var generic = stemmed(`overview introduction explain explanation describe description discuss work works working use
	used using usage main important importance key role aspect aspects impact guide tutorial best practice practices
	difference differences compare comparison versus advantage advantages disadvantage benefit benefits current state
	recent latest topic topics question questions report research study analysis detail details example examples
	purpose concept concepts basic basics fundamental general kind kinds type types different various make makes made
	take need happen mean means provide find come choose decide thing things way ways want help know known include including
	summary background context perspective feature features
	give tell show list discuss summarize summarise evaluate investigate examine identify analyze analyse assess outline
	review understand learn look write`)

// common words occur in texts of every subject; matching one says little.
var common = stemmed(`able access act add age allow application apply area available base begin body book build business
	call case cause change check class clear close code common company complete computer consider contain content
	control copy correct cost country course create data date day default define delete depend design develop
	development device direct document early effect enable end engine environment error event exist expect fact fail
	field file final first follow force form format free full function future get good government great group grow
	hand handle high history home hold house human idea identify improve increase individual information input
	instance interest interface item job keep kind large last law lead learn leave length level library life limit
	line link list little live local long look lot low machine major man manage management manual market matter
	measure member method mind mode model modern month move multiple name national new next note number object offer
	old open operation option order organization output page parameter part particular pass pay people perform
	performance person place plan play point policy position possible power present price principle problem process
	product program project property public quality range rate reach read real reason receive record reference relate
	remove require resource response result return right rule run same school science second section select send
	sequence series serve server service set short show side sign similar simple single size small social software
	solution special specific specify stage standard start step stop store string structure subject success support
	system table task team technology term test text three time title today tool total turn two understand unit update
	user value variable version view module war water web week word world write year young`)
