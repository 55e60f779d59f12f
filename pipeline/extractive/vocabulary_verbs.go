package extractive

// auxiliary verbs are enough to call an English sentence finite.
var auxiliary = set(`is are was were be am has have had do does did can could may might must shall should will would
	isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't can't cannot couldn't mustn't shouldn't
	won't wouldn't it's that's there's you're they're we're let's need needs`)

// irregular past forms that end in neither -ed nor -s.
var irregular = set(`became began brought built came chose drew fell felt found gave gone got grew held kept knew led left
	lost made meant met paid put ran rose said saw sent set showed spent stood took thought told went won wrote began
	broke drove ate flew forgot froze hid rode sang sank shook shot slept spoke stole struck swam threw understood wore`)

// verbs are the verbs of manuals, papers and news in their base form. With -s they make a sentence finite, too.
var verbs = set(`accept access achieve act add address adjust affect agree aim allow allocate analyse analyze announce
	appear append apply argue arise ask assign assume attach attempt avoid become begin believe belong block bring build
	call cause change check choose claim clear close collect combine come compare compile compute confirm connect
	consist consider construct consume contain continue control convert copy cost count cover create cut decide
	declare decode decrease define delete deliver demand denote depend derive describe design detect determine develop
	differ disable discover display divide drop emerge employ enable encode end enforce ensure enter establish estimate
	evaluate exceed exchange exclude execute exist exit expand expect explain export express extend extract fail fall
	feature fetch fill filter find finish fit fix flush focus follow force forget form format free generate get give go
	govern grow guarantee handle happen help hide hold identify ignore implement implies imply import improve include
	increase indicate inherit initialize insert inspect install invoke involve issue join jump keep know lack launch
	lead learn leave let lie limit list live load lock look lose maintain make manage map mark match matter mean measure
	meet merge modify monitor move multiply name need note obtain occur offer omit open operate optimize order override
	own pack parse pass perform permit place play point possess prefer prepare present preserve prevent print proceed
	process produce prohibit promise protect prove provide publish pull push put raise range reach read receive
	recognise recognize recommend record recover reduce refer reflect refuse reject relate release rely remain remember
	remove rename render repeat replace report represent request require reserve reset resolve respond restart restore
	restrict result retain retrieve return reveal rise roll run save scale scan search see seek seem select send
	separate serve set share show shrink simplify skip solve sort specify split stand start state stay stop store
	stream submit suffer suggest support suppose survive swap switch take target tell tend terminate test throw track
	transfer transform translate trigger try turn understand update upgrade use validate vary verify view visit wait
	walk want warn work wrap write yield
	abort accomplish account accumulate acquire activate aggregate aid alleviate alter answer approximate arrange arrive
	assure automate behave bind break buffer bypass calculate cancel capture carry catch cite coerce commit complain
	complete comply complicate comprise conclude conflict conform constitute constrain correlate correspond deal default
	defer delegate demonstrate detach direct disallow discard disconnect dominate double drain drive duplicate ease
	elect eliminate embed emit emphasize emulate encapsulate encode encounter enhance entail equal evict evolve examine
	exhibit expire expose facilitate feed fire flag found fund gain gather glow grant halt hash heat hold host illustrate
	incorporate infer inform inhibit inject instruct integrate interact interpret interrupt introduce invalidate
	invest isolate iterate justify last launch listen live locate log lower materialize maximize melt mention migrate
	mimic minimize mitigate mix mutate mutually negotiate notify observe occupy offset orbit originate outperform outweigh
	overlap overwrite partition pause peak persist poll populate preclude predict preempt produce profile prohibit prompt
	propagate propose pursue quantify query queue rank rebuild reclaim reconcile regulate reinforce relocate rely
	remark remedy renew replay replicate rescue reside resist resume retry reverse revert rewrite rotate route sacrifice
	sample satisfy say schedule seize sell serialize shift ship shut signal simulate sit slow spawn speak spend spill
	spread stabilize stall steal stem step stick strengthen struggle subscribe substitute succeed summarize supply
	suppress surpass sustain switch sync synchronize tackle think tie tolerate touch trade transition transmit
	traverse treat trust undergo undo unlock violate vote wake warm waste weaken weigh win yield
	absorb accelerate burn blow sound accompany adapt adopt advise afford annotate appreciate arrest associate attract authenticate
	await bloom breathe breed bury buy cease celebrate collapse compensate compete condense confuse conquer consult
	contribute cope decay dedicate defend denote depart deserve destroy differentiate diminish disappear disclose
	discourage dismiss dispatch disperse dissolve distinguish distribute divert dominate dry dwell earn eat elaborate
	encourage endure enlarge enrich entitle erode escape evaporate evoke excite excuse exert explode explore flourish
	forbid forgive foster grab graze greet grind hatch haunt heal hear hurt illuminate imagine impair impede impose
	impress incur induce inhabit initiate insist inspire instantiate intend intercept invent leak lend linger manifest
	mate migrate neglect nourish oblige obstruct opt originate oscillate outlive owe paint penetrate perceive perish
	persuade pertain plunge populate pour praise preach precede prosper provoke punish radiate rebound recall reckon
	reclaim regard regenerate regret rely repel reproduce resemble restrain reveal revise roam roar satisfy scatter
	settle shape shed shelter shine shoot shout shorten sing soak solidify sparkle stabilise stimulate stray
	strengthen strive swallow swear swim teach thicken thin thrive tighten tremble unite urge utilize vanish venture
	vibrate wander weep whisper widen wipe worry worsen prey thank react surround crash`)

// thirdPerson returns the base form of an English verb in -s, and false when low is none that is known.
func thirdPerson(low string) (string, bool) {
	n := len(low)
	if n < 4 || low[n-1] != 's' {
		return "", false
	}
	if base := low[:n-1]; verbs[base] {
		return base, true
	}
	if n > 4 && low[n-2] == 'e' {
		if base := low[:n-2]; verbs[base] {
			return base, true
		}
		if base := low[:n-3] + "y"; low[n-3] == 'i' && verbs[base] {
			return base, true
		}
	}
	return "", false
}

// objectWord begins what follows a verb rather than what follows a plural noun.
var objectWord = set(`the a an this its their all any each every only no some if whether how when where whatever either true false null
	none into information data what which more up out two three both one itself`)

// subordinators open a clause that needs a verb of its own.
var subordinators = set(`that which who whom whose when if where whether because while although though since unless until
	what how why once as`)

// entryNoun begins entries of a reference: "Exception raised when ...", "Integer constant stating ...".
var entryNoun = set(`exception error warning constant integer string flag event class function method object attribute value
	list number boolean tuple name size type time base abstract sequence set mapping dictionary array file path option
	parameter argument variable field column index table signal callback handler hook iterator instance subclass wrapper
	identifier pointer address mode format version date timestamp code bit byte text key`)
