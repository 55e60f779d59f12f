package redisqueue_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// reference is a model of one run: the behaviour of the scripts in plain Go, without Redis, index and keys. Times are
// Redis's, in ms. Owners are numbers; 0 means none.
type reference struct {
	options topicqueue.Options
	about   redisqueue.About
	lease   int64
	stuck   int64
	id      string

	now    int64
	exists bool
	line   topicqueue.RunState // what the batch's list keeps; empty before the run was published

	state                               topicqueue.RunState
	reason, report, sealed, unpublished string
	paused, published                   bool
	outcome                             string
	started, ended, seal, final         int64
	deadline, until                     int64 // absolute, and by the clock of the run
	beat, idle                          int64 // last sign of life of its workers, and how long its clock has stood
	epoch, loop, processed              int

	hasPlan, hasReport bool
	planTraces, usages int
	asks               int
	replies            map[int]string
	retried            int // token of the call that began this epoch
	units              map[string]*refUnit
	blocks             []*refBlock
	waiting            []int    // numbers of blocks, in the order in which they come into flight
	active             []int    // ascending
	queries            []int    // the block that issued each
	digests            [][2]int // the block and the number of the checkpoint of each
	calls              topicqueue.ToolCalls
	journal            map[string]map[string]string
	forcedUntil        int64
	limitNow, spent    int64 // of the budget

	done map[int]int // how often each block's end was told in this epoch
	told bool        // progress was, in this epoch
}

type refUnit struct {
	generation, owner int
	lease             int64
	endedBy           int // the owner whose call ended it: it may call again
	lapses            int
	lapsed            bool
	mark              [2]int // iterations and journal entries at the last lapse
	entries           int
	calls             map[string]int64 // set aside, by generation and place
	stuck             map[int]int64    // since when a task of a generation has been known to be active
}

type refBlock struct {
	title      string
	status     topicqueue.BlockStatus
	reason     string // "*": for a person, not checked word for word
	iterations int
	traces     int
	returned   []string
	began      int64
	idle       int64    // of the run, then
	view       *refView // that the next iteration sees
	admissions []topicqueue.Admission
	feedback   int // number of the checkpoint that the memory is of
}

// refView is the size of the view that a block sees.
type refView struct{ blocks, queries, digests int }

// refSeen is the content of that view.
type refSeen struct {
	blocks, queries, own int
	ledger               string // block/checkpoint of each digest of another block
}

func (r *reference) freeze() *refView { return &refView{len(r.blocks), len(r.queries), len(r.digests)} }

func (r *reference) see(unit string, v refView) refSeen {
	s := refSeen{blocks: v.blocks, queries: v.queries}
	for _, by := range r.queries[:v.queries] {
		if topicqueue.BlockID(by) == unit {
			s.own++
		}
	}
	for _, d := range r.digests[:v.digests] {
		if topicqueue.BlockID(d[0]) != unit {
			s.ledger += fmt.Sprintf("%d/%d ", d[0], d[1])
		}
	}
	return s
}

type refLease struct {
	unit       string
	generation int
	owner      int
}

func newReference(run topicqueue.Run, timing redisqueue.Timing) *reference {
	return &reference{id: run.ID, about: redisqueue.About{Topic: run.Topic, Batch: run.Batch}, options: run.Options, lease: timing.Lease.Milliseconds(), stuck: timing.Stuck.Milliseconds(),
		units: map[string]*refUnit{}, journal: map[string]map[string]string{}, done: map[int]int{}}
}

func (r *reference) unit(name string) *refUnit {
	u := r.units[name]
	if u == nil {
		u = &refUnit{generation: 1, stuck: map[int]int64{}}
		r.units[name] = u
	}
	return u
}

func (r *reference) block(unit string) *refBlock {
	n := topicqueue.BlockNumber(unit)
	if n == 0 || n > len(r.blocks) {
		return nil
	}
	return r.blocks[n-1]
}

func (u *refUnit) release() { u.owner, u.lease = 0, 0 }
func (u *refUnit) fence()   { u.generation++; u.release(); u.calls = nil }

// valid reports whether a lease is valid. holds does the same for a call under the lease, which is a sign of life.
func (r *reference) valid(l refLease) bool {
	u := r.unit(l.unit)
	return r.exists && u.generation == l.generation && u.owner == l.owner && l.owner != 0
}

func (r *reference) holds(l refLease) bool {
	if !r.valid(l) {
		return false
	}
	if r.beat > 0 && r.ended == 0 {
		r.tick(r.lease / 2)
		r.beat = r.now
	}
	return true
}

// tick updates the clock of the run. Between two signs of life of its workers, at most this much time counts.
func (r *reference) tick(most int64) {
	if r.beat == 0 || r.ended > 0 {
		return
	}
	idle := r.now - r.beat - max(0, min(r.now-r.beat, most))
	r.beat, r.idle = r.beat+idle, r.idle+idle
	if r.until > 0 {
		reserve := r.final - r.seal
		r.until += idle
		r.final = r.until
		if r.deadline > 0 {
			r.final = min(r.final, r.deadline)
		}
		r.seal = r.final - reserve
	}
}

// held reports whether the run has a worker, ignoring one unit.
func (r *reference) held(but string) bool {
	for name, u := range r.units {
		if name == but || u.owner == 0 {
			continue
		}
		n := topicqueue.BlockNumber(name)
		if stageOf[r.state] == name || stageOf[r.state] == "" && slices.Contains(r.active, n) {
			return true
		}
	}
	return false
}

// stageOf is the unit of a run in each state. The units of researching are the blocks.
var stageOf = map[topicqueue.RunState]string{
	topicqueue.RunQueued: "plan", topicqueue.RunPlanning: "plan", topicqueue.RunReviewing: "review",
	topicqueue.RunReporting: "report", topicqueue.RunNarrating: "narrate",
}

// wantedUnits returns the units that need a task or a worker now.
func (r *reference) wantedUnits() []string {
	switch {
	case !r.exists, r.ended > 0 && r.published, r.ended == 0 && r.paused:
		return nil
	case r.ended > 0:
		return []string{"publish"}
	case stageOf[r.state] != "":
		return []string{stageOf[r.state]}
	}
	var out []string
	for _, n := range r.active {
		out = append(out, topicqueue.BlockID(n))
	}
	return out
}

func (r *reference) intents(units ...string) []redisqueue.Intent {
	out := []redisqueue.Intent{}
	for _, unit := range units {
		i := redisqueue.Intent{RunID: r.id, Unit: unit, Generation: r.unit(unit).generation, About: r.about,
			Begun: unit == "plan" && r.state == topicqueue.RunPlanning}
		if b := r.block(unit); b != nil {
			i.About.Title = b.title
		}
		out = append(out, i)
	}
	return out
}

func (r *reference) wanted() []redisqueue.Intent { return r.intents(r.wantedUnits()...) }

func (r *reference) create() {
	if r.exists {
		return
	}
	r.exists, r.state, r.limitNow = true, topicqueue.RunQueued, r.options.Budget.Amount()
	if !r.options.Deadline.IsZero() {
		r.deadline = r.options.Deadline.UnixMilli()
	}
}

// refBegun is the expected result of Begin.
type refBegun struct {
	lapses, epoch int
	seal, final   int64 // ms; -1 = never
	spent         int64
	view          refSeen
	iterations    int
	traces        int
	feedback      int
}

func (r *reference) begin(l refLease) (refBegun, error) {
	u := r.unit(l.unit)
	if !r.exists || u.generation != l.generation || !slices.Contains(r.wantedUnits(), l.unit) {
		return refBegun{}, redisqueue.ErrStale
	}
	if u.lease > r.now && u.owner != l.owner {
		return refBegun{}, redisqueue.ErrHeld
	}
	if l.unit != "publish" {
		if r.held(l.unit) {
			r.tick(r.lease / 2)
		} else {
			r.tick(0)
		}
		if r.beat == 0 {
			r.beat = r.now
		}
	}
	u.owner, u.lease, u.calls = l.owner, r.now+r.lease, nil
	if l.unit == "plan" {
		r.state = topicqueue.RunPlanning
		if r.started == 0 {
			r.started = r.now
			r.limit(r.options.Duration.Milliseconds(), r.deadline)
		}
	}
	b := refBegun{lapses: u.lapses, epoch: r.epoch, seal: r.left(r.seal), final: r.left(r.final)}
	if block := r.block(l.unit); block != nil {
		block.status = topicqueue.BlockResearching
		if block.began == 0 {
			block.began, block.idle = r.now, r.idle
		}
		if block.view == nil {
			block.view = r.freeze()
		}
		b.spent, b.view, b.iterations = r.now-block.began-(r.idle-block.idle), r.see(l.unit, *block.view), block.iterations
		b.traces, b.feedback = block.traces, block.feedback
	}
	return b, nil
}

// limit sets the ends of research and of the run, from a duration and a deadline. The time for writing is reserved
// first, but at most half of the total.
func (r *reference) limit(duration, deadline int64) {
	end := deadline
	if duration > 0 {
		r.until = r.now + duration
	}
	if duration > 0 && (end == 0 || r.until < end) {
		end = r.until
	}
	if end > 0 {
		r.final = end
		r.seal = end - min(r.options.WritingTime.Milliseconds(), max(end-r.now, 0)/2)
	}
}

func (r *reference) left(at int64) int64 {
	if at == 0 {
		return -1
	}
	return max(at-r.now, 0)
}

// admit activates waiting blocks and returns them.
func (r *reference) admit() []redisqueue.Intent {
	var units []string
	for !r.paused && len(r.waiting) > 0 && len(r.active) < r.options.MaxParallel {
		n := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.active = append(r.active, n)
		slices.Sort(r.active)
		units = append(units, topicqueue.BlockID(n))
	}
	return r.intents(units...)
}

// onward activates blocks, and moves the run on if none is left.
func (r *reference) onward() []redisqueue.Intent {
	admitted := r.admit()
	if len(r.active) > 0 || len(r.waiting) > 0 {
		return admitted
	}
	r.state = topicqueue.RunReporting
	if r.loop < r.options.MaxLoops && r.sealed == "" {
		r.state = topicqueue.RunReviewing
	}
	return r.wanted()
}

func (r *reference) add(titles []string) {
	for _, title := range titles {
		r.blocks = append(r.blocks, &refBlock{title: title, status: topicqueue.BlockPending})
		r.waiting = append(r.waiting, len(r.blocks))
	}
}

func (r *reference) commitPlan(l refLease, titles []string) ([]redisqueue.Intent, error) {
	u := r.unit("plan")
	if u.endedBy == l.owner {
		return r.wanted(), nil
	}
	if !r.holds(l) || r.state != topicqueue.RunPlanning {
		return nil, redisqueue.ErrFenced
	}
	u.endedBy = l.owner
	u.release()
	delete(r.journal, "plan")
	r.hasPlan, r.planTraces, r.told = true, 1, true
	r.state = topicqueue.RunResearching
	r.add(titles)
	return r.onward(), nil
}

func (r *reference) await(l refLease) ([]redisqueue.Intent, error) {
	u := r.unit("plan")
	if u.endedBy == l.owner {
		return r.wanted(), nil
	}
	if !r.holds(l) || r.state != topicqueue.RunPlanning {
		return nil, redisqueue.ErrFenced
	}
	u.endedBy = l.owner
	u.fence()
	r.state = topicqueue.RunAwaitingInput
	r.asks++
	return r.wanted(), nil
}

func (r *reference) giveAnswer(number int, answer string) ([]redisqueue.Intent, error) {
	if given, ok := r.replies[number]; ok && given == answer {
		return r.wanted(), nil // it was given already
	}
	if !r.exists || r.state != topicqueue.RunAwaitingInput || number != r.asks {
		return nil, redisqueue.ErrStale
	}
	if r.replies == nil {
		r.replies = map[int]string{}
	}
	r.replies[number], r.state = answer, topicqueue.RunPlanning
	return r.wanted(), nil
}

// refCheckpoint is one iteration. The number represents its findings.
type refCheckpoint struct {
	iteration, traces, queries, number int
	digest                             bool
	returned                           string
	proposals                          []string
}

func (r *reference) checkpoint(l refLease, c refCheckpoint) (refSeen, []topicqueue.Admission, []redisqueue.Intent, error) {
	b := r.block(l.unit)
	if !r.holds(l) || b == nil || r.state != topicqueue.RunResearching {
		return refSeen{}, nil, nil, redisqueue.ErrFenced
	}
	if b.iterations >= c.iteration {
		return r.see(l.unit, *b.view), b.admissions, r.wanted(), nil
	}
	var added []string
	b.admissions = []topicqueue.Admission{}
	for _, title := range c.proposals {
		a := topicqueue.Admission{Title: title, Answer: topicqueue.AdmissionFull}
		if twin := slices.IndexFunc(r.blocks, func(b *refBlock) bool { return b.title == title }); twin >= 0 {
			a.Answer, a.BlockID = topicqueue.AdmissionDuplicate, topicqueue.BlockID(twin+1)
		} else if len(r.blocks)+len(added) < r.options.QueueMaxLength {
			added = append(added, title)
			a.Answer, a.BlockID = topicqueue.AdmissionAdded, topicqueue.BlockID(len(r.blocks)+len(added))
		}
		b.admissions = append(b.admissions, a)
	}
	r.add(added)
	for range c.queries {
		r.queries = append(r.queries, topicqueue.BlockNumber(l.unit))
	}
	if c.digest {
		r.digests = append(r.digests, [2]int{topicqueue.BlockNumber(l.unit), c.number})
	}
	r.calls.Asked, r.calls.Shared = r.calls.Asked+c.queries+1, r.calls.Shared+c.queries
	b.iterations, b.feedback = c.iteration, c.number
	b.traces += c.traces
	if c.returned != "" {
		b.returned = append(b.returned, c.returned)
	}
	r.unit(l.unit).lease = r.now + r.lease
	delete(r.journal, l.unit)
	intents := r.admit()
	b.view = r.freeze()
	return r.see(l.unit, *b.view), b.admissions, intents, nil
}

func (r *reference) close(n int, status topicqueue.BlockStatus, reason string) {
	b := r.blocks[n-1]
	b.status, b.reason = status, reason
	r.active = slices.DeleteFunc(r.active, func(m int) bool { return m == n })
	r.waiting = slices.DeleteFunc(r.waiting, func(m int) bool { return m == n })
	r.processed++
	r.done[n]++
	delete(r.journal, topicqueue.BlockID(n))
	r.unit(topicqueue.BlockID(n)).calls = nil
}

func (r *reference) endBlock(l refLease, status topicqueue.BlockStatus, reason, returned string) ([]redisqueue.Intent, error) {
	u := r.unit(l.unit)
	if u.endedBy == l.owner {
		return r.wanted(), nil
	}
	if !r.holds(l) {
		return nil, redisqueue.ErrFenced
	}
	u.endedBy = l.owner
	u.release()
	if b := r.block(l.unit); returned != "" {
		b.returned = append(b.returned, returned)
	}
	r.close(topicqueue.BlockNumber(l.unit), status, reason)
	return r.onward(), nil
}

func (r *reference) closeReview(l refLease, titles []string) ([]redisqueue.Intent, error) {
	u := r.unit("review")
	if u.endedBy == l.owner {
		return r.wanted(), nil
	}
	if !r.holds(l) || r.state != topicqueue.RunReviewing {
		return nil, redisqueue.ErrFenced
	}
	u.endedBy = l.owner
	u.fence()
	r.loop++
	if len(titles) == 0 {
		r.state = topicqueue.RunReporting
		return r.wanted(), nil
	}
	r.state = topicqueue.RunResearching
	r.add(titles)
	return r.onward(), nil
}

func (r *reference) finish(l refLease, state topicqueue.RunState, reason, report string) ([]redisqueue.Intent, error) {
	u := r.unit(l.unit)
	if u.endedBy == l.owner {
		return r.wanted(), nil
	}
	if !r.holds(l) || r.ended > 0 {
		return nil, redisqueue.ErrFenced
	}
	u.endedBy = l.owner
	u.release()
	r.report, r.hasReport = report, report != ""
	if r.options.Audio != "" && report != "" && r.sealed == "" {
		r.state, r.outcome, r.reason = topicqueue.RunNarrating, string(state), reason
		return r.wanted(), nil
	}
	r.conclude(state, reason)
	return r.wanted(), nil
}

func (r *reference) narrated(l refLease) ([]redisqueue.Intent, error) {
	u := r.unit("narrate")
	if u.endedBy == l.owner {
		return r.wanted(), nil
	}
	if !r.holds(l) || r.state != topicqueue.RunNarrating {
		return nil, redisqueue.ErrFenced
	}
	u.endedBy = l.owner
	r.conclude(topicqueue.RunState(r.outcome), r.reason)
	return r.wanted(), nil
}

// conclude ends the run and fences its units.
func (r *reference) conclude(state topicqueue.RunState, reason string) {
	r.state, r.reason, r.ended, r.paused = state, reason, r.now, false
	for _, u := range r.units {
		u.calls = nil
	}
	for _, unit := range []string{"plan", "review", "report", "narrate"} {
		delete(r.journal, unit)
		if r.unit(unit).owner != 0 {
			r.unit(unit).fence()
		}
	}
}

// drop ends all unfinished blocks. Blocks with findings count as completed.
func (r *reference) drop() {
	for _, n := range slices.Concat(r.active, r.waiting) {
		if slices.Contains(r.active, n) {
			r.unit(topicqueue.BlockID(n)).fence()
		}
		status := topicqueue.BlockFailed
		if r.blocks[n-1].traces > 0 {
			status = topicqueue.BlockCompleted
		}
		r.close(n, status, "*")
	}
}

// sealNow ends research, so that the report is next.
func (r *reference) sealNow() {
	if r.sealed != "" {
		return
	}
	r.sealed = "*"
	if r.state == topicqueue.RunReporting || r.state == topicqueue.RunNarrating {
		return
	}
	if stage := stageOf[r.state]; stage != "" {
		r.unit(stage).fence()
	}
	r.drop()
	r.state = topicqueue.RunReporting
}

func (r *reference) cancel(report bool) ([]redisqueue.Intent, error) {
	switch {
	case !r.exists:
		return nil, redisqueue.ErrStale
	case r.ended > 0:
	case r.state == topicqueue.RunNarrating:
		r.conclude(topicqueue.RunState(r.outcome), r.reason)
	case report && r.hasPlan:
		r.paused = false
		r.sealNow()
	default:
		r.drop()
		r.conclude(topicqueue.RunCancelled, "*")
	}
	return r.wanted(), nil
}

func (r *reference) pause() error {
	if !r.exists {
		return redisqueue.ErrStale
	}
	if r.ended == 0 {
		r.paused = true
	}
	return nil
}

func (r *reference) resume() ([]redisqueue.Intent, error) {
	if !r.exists {
		return nil, redisqueue.ErrStale
	}
	if r.ended == 0 && r.paused {
		r.paused = false
		if r.state == topicqueue.RunResearching {
			r.admit()
		}
	}
	return r.wanted(), nil
}

func (r *reference) yield(l refLease) ([]redisqueue.Intent, error) {
	if !r.holds(l) {
		return nil, redisqueue.ErrFenced
	}
	r.unit(l.unit).fence()
	if !slices.Contains(r.wantedUnits(), l.unit) {
		return []redisqueue.Intent{}, nil
	}
	return r.intents(l.unit), nil
}

func (r *reference) releaseLease(l refLease) error {
	if !r.holds(l) {
		return redisqueue.ErrFenced
	}
	r.unit(l.unit).release()
	return nil
}

func (r *reference) renew(l refLease) bool {
	if r.holds(l) {
		r.unit(l.unit).lease = r.now + r.lease
		return true
	}
	return false
}

func (r *reference) write(l refLease, epoch int, place, value string) string {
	if !r.exists || r.ended > 0 || epoch != r.epoch {
		return value // of a time that is over: kept by nobody
	}
	if r.journal[l.unit] == nil {
		r.journal[l.unit] = map[string]string{}
	}
	if first, ok := r.journal[l.unit][place]; ok {
		return first
	}
	r.journal[l.unit][place] = value
	r.unit(l.unit).entries++
	return value
}

// reserve reserves the cost of a call: its question, and a quarter of the rest, but at least the cost of a usual answer
// and at most that of the longest. The last part of the budget goes to a single call.
func (r *reference) reserve(l refLease, place string, x redisqueue.Reservation) (int64, error) {
	if !r.holds(l) || r.ended > 0 {
		return 0, redisqueue.ErrFenced
	}
	if r.limitNow == 0 {
		return x.Longest, nil
	}
	key := fmt.Sprint(l.generation, place)
	u := r.unit(l.unit)
	before := u.calls[key]
	room := r.limitNow - r.spent - (r.setAside() - before) - x.Stay - x.Question
	others := 0
	for _, other := range r.units {
		others += len(other.calls)
	}
	if _, again := u.calls[key]; again {
		others--
	}
	quarter := room / 4
	if room < 0 && room%4 != 0 {
		quarter--
	}
	answer := min(x.Longest, max(x.Usual, quarter))
	switch {
	case answer <= room:
	case others > 0:
		return 0, redisqueue.ErrBudgetHeld
	case room < min(x.Least, x.Longest):
		return 0, redisqueue.ErrBudget
	default:
		answer = room
	}
	if u.calls == nil {
		u.calls = map[string]int64{}
	}
	u.calls[key] = x.Question + answer
	return answer, nil
}

// setAside returns the sum reserved by calls in flight.
func (r *reference) setAside() (sum int64) {
	for _, u := range r.units {
		for _, amount := range u.calls {
			sum += amount
		}
	}
	return sum
}

// answered records a call and its cost. recorded: it has been recorded before.
func (r *reference) answered(l refLease, epoch int, place, value string, cost int64, recorded bool) string {
	if !r.exists {
		return value
	}
	if !recorded {
		r.usages++
		r.spent += cost
	}
	delete(r.unit(l.unit).calls, fmt.Sprint(l.generation, place))
	if value == "" {
		return value
	}
	return r.write(l, epoch, place, value)
}

func (r *reference) emit(l refLease) error {
	if !r.holds(l) || r.ended > 0 { // nothing comes after the end
		return redisqueue.ErrFenced
	}
	return nil
}

func (r *reference) advance(unit string, generation int, active bool) []redisqueue.Intent {
	u := r.unit(unit)
	if u.generation != generation || u.owner != 0 || !slices.Contains(r.wantedUnits(), unit) {
		return []redisqueue.Intent{}
	}
	if active {
		if _, ok := u.stuck[generation]; !ok {
			u.stuck[generation] = r.now
		}
		if r.now-u.stuck[generation] < r.stuck {
			return []redisqueue.Intent{}
		}
	}
	u.generation++
	return r.intents(unit)
}

// sweep returns the wanted tasks without an owner. forced: generation of the report that the sweeper commits itself.
func (r *reference) sweep(takeover bool, owner int) (intents []redisqueue.Intent, forced int, err error) {
	if !r.exists || r.published {
		return nil, 0, redisqueue.ErrStale
	}
	if r.held("") {
		r.tick(r.lease / 2)
	} else {
		r.tick(0)
	}
	final := r.final
	if final == 0 {
		final = r.deadline
	}
	switch {
	case r.ended > 0:
	case final > 0 && r.now >= final && r.state == topicqueue.RunQueued:
		r.conclude(topicqueue.RunFailed, "*")
	case final > 0 && r.now >= final && r.state == topicqueue.RunNarrating:
		r.conclude(topicqueue.RunState(r.outcome), r.reason)
	case final > 0 && r.now >= final:
		r.sealNow()
		if r.forcedUntil <= r.now {
			u := r.unit("report")
			u.generation++
			u.owner, u.lease = owner, r.now+r.lease
			forced, r.forcedUntil = u.generation, r.now+r.lease/4
		}
	case r.seal > 0 && r.now >= r.seal && r.state != topicqueue.RunQueued:
		r.sealNow()
	}
	if takeover {
		for _, unit := range r.wantedUnits() {
			if u := r.unit(unit); u.owner != 0 && u.lease <= r.now {
				r.lapse(unit, u)
			}
		}
	}
	intents = []redisqueue.Intent{}
	for _, unit := range r.wantedUnits() {
		if r.unit(unit).owner == 0 {
			intents = append(intents, r.intents(unit)...)
		}
	}
	return intents, forced, nil
}

// lapse moves a unit with an expired lease to its next generation. After too many expiries without progress, the unit
// ends.
func (r *reference) lapse(unit string, u *refUnit) {
	mark := [2]int{0, u.entries}
	if b := r.block(unit); b != nil {
		mark[0] = b.iterations
	}
	if !u.lapsed || u.mark != mark {
		u.lapses = 0
	}
	u.lapsed, u.mark = true, mark
	u.lapses++
	u.fence()
	if u.lapses < redisqueue.MaxLapses {
		return
	}
	switch unit {
	case "plan":
		r.conclude(topicqueue.RunFailed, "*")
	case "review":
		r.state = topicqueue.RunReporting
	case "narrate":
		r.conclude(topicqueue.RunState(r.outcome), r.reason)
	case "report", "publish": // a report does without its model; publishing goes on
	default:
		r.close(topicqueue.BlockNumber(unit), topicqueue.BlockFailed, "*")
		r.onward()
	}
}

func (r *reference) retry(what string, maxIterations, token int) ([]redisqueue.Intent, error) {
	if r.exists && r.retried == token {
		return r.wanted(), nil // the reply of the first call was lost
	}
	if !r.exists || r.ended == 0 {
		return nil, redisqueue.ErrRunning
	}
	if !r.hasPlan {
		what = redisqueue.RetryAll
	}
	r.retried = token
	if r.options.Budget.Amount() > 0 { // what was spent is spent
		r.limitNow = r.spent + r.options.Budget.Amount()
	}
	r.epoch++
	r.reason, r.report, r.sealed, r.outcome, r.unpublished = "", "", "", "", ""
	r.ended, r.started, r.final, r.seal, r.deadline, r.loop = 0, 0, 0, 0, 0, 0
	r.beat, r.idle, r.until = 0, 0, 0
	r.published, r.hasReport, r.forcedUntil = false, false, 0
	r.done, r.told = map[int]int{}, false
	for _, unit := range []string{"plan", "review", "report", "narrate", "publish"} {
		u := r.unit(unit)
		u.fence()
		u.endedBy, u.lapses, u.lapsed = 0, 0, false
	}
	r.waiting, r.active = nil, nil
	if what == redisqueue.RetryAll {
		for n := range r.blocks {
			r.unit(topicqueue.BlockID(n + 1)).fence()
		}
		for name, u := range r.units {
			r.units[name] = &refUnit{generation: u.generation, stuck: map[int]int64{}}
		}
		r.blocks, r.queries, r.digests, r.hasPlan, r.planTraces, r.processed = nil, nil, nil, false, 0, 0
		r.journal = map[string]map[string]string{}
		r.state = topicqueue.RunQueued
		return []redisqueue.Intent{}, nil
	}
	for n, b := range r.blocks {
		if what == redisqueue.RetryReport || b.status == topicqueue.BlockCompleted && b.reason == "" {
			r.done[n+1]++ // told again: the stream begins anew
			continue
		}
		u := r.unit(topicqueue.BlockID(n + 1))
		u.fence()
		u.endedBy, u.lapses, u.lapsed = 0, 0, false
		b.began, b.view = 0, nil
		if b.iterations >= maxIterations { // it found nothing in all of them
			b.iterations, b.traces, b.feedback, b.admissions, b.returned = 0, 0, 0, nil, nil
			r.queries = slices.DeleteFunc(r.queries, func(by int) bool { return by == n+1 })
			r.digests = slices.DeleteFunc(r.digests, func(d [2]int) bool { return d[0] == n+1 })
		}
		b.status, b.reason = topicqueue.BlockPending, ""
		r.waiting = append(r.waiting, n+1)
	}
	r.processed, r.told = len(r.blocks)-len(r.waiting), true
	r.started, r.beat = r.now, r.now
	r.limit(r.options.Duration.Milliseconds(), 0)
	if what == redisqueue.RetryReport {
		r.loop = r.options.MaxLoops
	}
	r.state = topicqueue.RunResearching
	return r.onward(), nil
}

func (r *reference) noteUnpublished(l refLease, reason string) error {
	if !r.holds(l) {
		return redisqueue.ErrFenced
	}
	r.unpublished = reason
	return nil
}

func (r *reference) publish(l refLease) error {
	u := r.unit("publish")
	if r.exists && u.endedBy == l.owner {
		return nil
	}
	if !r.holds(l) {
		return redisqueue.ErrFenced
	}
	u.endedBy = l.owner
	u.release()
	r.published, r.unpublished, r.hasReport = true, "", false
	r.line = r.state
	r.journal = map[string]map[string]string{}
	return nil
}

// expire applies the expiry of the state.
func (r *reference) expire() {
	*r = reference{id: r.id, about: r.about, options: r.options, lease: r.lease, stuck: r.stuck, now: r.now, line: r.line,
		units: map[string]*refUnit{}, journal: map[string]map[string]string{}, done: map[int]int{}}
}

// String describes the state of the run.
func (r *reference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s epoch %d loop %d waiting %v active %v", r.state, r.epoch, r.loop, r.waiting, r.active)
	for _, unit := range []string{"plan", "review", "report", "narrate", "publish"} {
		if u := r.units[unit]; u != nil && (u.generation > 1 || u.owner > 0) {
			fmt.Fprintf(&b, " %s/%d by %d", unit, u.generation, u.owner)
		}
	}
	for i, block := range r.blocks {
		u := r.unit(topicqueue.BlockID(i + 1))
		fmt.Fprintf(&b, " %d:%s/%d by %d", i+1, block.status, u.generation, u.owner)
	}
	fmt.Fprintf(&b, " paused %v sealed %q ended %v published %v at %s", r.paused, r.sealed, r.ended > 0, r.published, time.UnixMilli(r.now).UTC().Format("15:04:05.000"))
	return b.String()
}
