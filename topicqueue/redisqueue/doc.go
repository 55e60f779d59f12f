// Package redisqueue keeps runs and their Dynamic Topic Queues in Redis. Every change of a run is one Lua script on the
// keys of that run, which share the hash tag {run id}; nothing else in nightdesk knows Redis keys. Start reading with
// Queue, Begin and Sweep. What workers share outside the runs has packages of its own: governor for the calls to model
// servers, shared for answers, rates and the clock; lua holds the scripts of all of them.
//
// Queue is composed of parts, each with the methods of one kind of caller: reader (what runs hold), along (what
// models are writing), attempts (work under a lease), controls (what a person tells a run), upkeep (feeding,
// sweeping, counting), batches, budgets (that runs share) and schedules. All stand on base, which calls the scripts
// of a run and tells the index of it.
//
// # States
//
//	          Begin(plan)             CommitPlan                 no block left, no review left
//	 queued ---------------> planning ---------> researching ----------------------------------> reporting
//	                          |    ^              |       ^                                        ^    |
//	                    Await |    | Answer       | no    | CloseReview                CloseReview |    | Finish
//	                          v    |              | block | with blocks                without any |    |
//	                       awaiting_input         v left  |                                        |    |
//	                                              reviewing ---------------------------------------+    |
//	                                                                                                    v
//	        completed, partial, failed or cancelled <------ Narrated ------ narrating <----- if it is to be narrated
//	          | publish                       ^                                                         |
//	          v                               +---------------------------------------------------------+
//	        published --- after its expiry --> gone
//
//	block:  PENDING, waiting --admit--> PENDING, in flight --Begin--> RESEARCHING --EndBlock--> COMPLETED or FAILED
//
// And from every state that is not final:
//
//	Cancel                     -> cancelled; every block ends: COMPLETED when it has traces, else FAILED;
//	                              narrating -> as its report has it
//	Cancel with report         -> reporting, sealed, when there is a plan; narrating -> as its report has it
//	Sweep, research over       -> reporting, sealed (of planning, awaiting_input, researching, reviewing)
//	Sweep, no answer in time   -> planning, which goes on without (of awaiting_input)
//	Sweep, final time over     -> as before, and the report's lease goes to the sweeper; queued -> failed;
//	                              narrating -> as its report has it
//	Sweep, MaxLapses lapses    planning -> failed; reviewing -> reporting; narrating -> as its report has it; a block -> FAILED
//	Finish by planning         planning -> failed (or another final state)
//	Pause, Resume              no change of state: a paused run wants no task, until Resume or its end
//
// From a final one Retry leads to researching, or to queued for the whole run, as the run's next epoch.
//
// # Who may call what
//
// A unit of work is a run's plan, one of its blocks, its review, report, narration, or its publishing. Begin takes a
// unit's lease for one generation and writes the owner token of the attempt. Every later script of the attempt names
// both: CommitPlan and Await with the plan's lease, Checkpoint and EndBlock with a block's, CloseReview with the
// review's, Finish with the plan's or the report's, Narrated with the narration's, Published and Unpublished with the
// publishing's, and Emit, Yield, Release and Renew with any. They are refused with ErrFenced, or counted by Renew as
// lost, when the unit has another generation or owner: a lease that has lapsed is still good until somebody takes the
// unit. An attempt that was thought dead can so do no harm. Create, Answer, Cancel, Pause, Resume, Retry, Sweep and
// Advance need no lease. Journal and Answered need none either: what was asked was asked and paid for, by whomever.
// Reserve needs any.
//
// # Intents, index and feeder
//
// Scripts return intents: the tasks that the run now wants. The caller enqueues them under a task id made of run, unit
// and generation, so that doing it twice is harmless; Sweep computes them again from state alone, for what nobody
// works. A run that is paused or waits for an answer wants none, one in a final state wants to be published, one that
// is published nothing.
//
// The run index says when each run is looked at next. It lies in another slot than the runs, so no script can change
// both; the order makes up for it. A transition whose tasks could be lost is announced before it (the next look is
// brought forward to a quarter of a lease, by Create to 30 s) where nobody looks at the run: Create, Answer, Cancel,
// Resume, Retry. A run that is worked is looked at that often anyway. Every transition that moves a run on notes its
// state after, and brings the look forward again. A sweep sets the next look when it has looked: a quarter of a
// lease; for a run that is queued, waits for an answer, or is paused with nobody at work, its next deadline, the end
// of the wait, or never. It never puts off, and never forgets, a run whose look lies within that quarter: that one
// was announced meanwhile. Due hands each run that is due to one sweeper, and to another after 30 s. A run that is
// published is forgotten by the sweep that finds it so.
//
// A queued run has no task until Feed takes it from those of its lane that wait, the oldest first, as long as fewer
// than the caller wants have one; those that MayBegin holds, up to three times as many, do not count. It leaves both
// sets when planning begins or when it is paused or ends; a sweep puts back one that was resumed, retried, or whose
// Create broke off.
//
// Feed begins no more runs than the workers have slots: the runs that are being planned or researched, of this lane
// and of those that are served before it, take one slot each, also while nobody works them. A run that has a report to
// write takes none, since workers keep slots for reports. A worker reports its slots with each Beat. One that has just
// started counts only those that were heard of since, because earlier ones may have been killed with it.
//
// # Leases and lapses
//
// Leases live for Timing.Lease unless they are renewed (Renew, Checkpoint). Begin is refused with ErrHeld while
// another's lives; one that has lapsed it takes over. Sweep, when takeover is allowed, gives a unit whose lease has
// lapsed to its next generation and counts that. The count begins at 1 when there was a checkpoint or journal entry
// since the last lapse. At MaxLapses the unit is given up, as shown above; a report is told by Begun.Lapses that it
// should do without its model, and publishing goes on for ever. Yield gives a unit to its next generation at once,
// Release frees it within the same. Due allows no takeover for Timing.Quiet after no worker swept for Timing.Gap:
// Redis was away for all, and nobody's silence counts. Advance gives a unit that nobody holds to its next generation
// when the job queue's task for this one is dead, or active for Timing.Stuck without having begun.
//
// # Review
//
// What CloseReview is given stands in the run's hash until the next review, so that the report need not ask again which
// blocks are one subject. A retry that researches again drops it; one that kills its workers leaves a note that it was
// not done.
//
// # Deadlines and the clock of a run
//
// The first Begin of planning sets when the run is over (final): Options.Duration later, but not after
// Options.Deadline; and when research is (seal): Options.WritingTime before, but at most half of what there is. Before
// it only Options.Deadline counts. The sweep carries both out, also of a paused run. Past final it hands the lease of
// the report's next generation to the sweeper (Swept.Forced), whoever held it, again each quarter of a lease until the
// run has ended; the sweeper commits what there is. A sealed run takes no block more and is not narrated.
// Run.Narration says why a report is not read aloud.
//
// A duration is time in which the run is worked. Every call under a lease is a sign of life, and between two of them at
// most half a lease counts. While nobody holds a lease of the run nothing counts: its worker was killed, it waits for a
// slot, for an answer, or it is paused. What does not count puts off seal and final, but never beyond Options.Deadline,
// which is absolute. So a Redis that was away, a suspended machine and a clock that jumps cost a run seconds at most.
// The time that a block has taken (Begun.Spent) goes by the same clock.
//
// # Journal
//
// An entry stands under unit and place; the first writer wins, whatever its generation, and everybody gets what it
// wrote. The entries of a block go with its checkpoint and its end, those of the plan when it is committed, those of
// every stage with the end of the run. After the end, or for another epoch, nothing is kept, and the writer gets back
// its own.
//
// # Budgets
//
// Answered stores an answer and its usage in one script: what is in the journal is in the accounts, and what is in the
// accounts is not asked again, whenever a worker dies; only calls that were in flight then are asked, and paid, twice,
// and their first tries are in nobody's accounts. Of a run with a budget the script sums up what was spent, in the
// unit of the budget, and Reserve refuses a call for which what is left, less what calls in flight have reserved, does
// not suffice. So a run spends no more than it may but for what calls in flight cost more than they have reserved, or
// have cost when their worker died.
//
// A batch's budget, and that of a night, lie in other slots than the runs. A run draws its share there before each
// iteration and then sets it as its limit (Purse); the pool's script keeps the sum of all shares below the budget.
// Repeating either is harmless. What a run has not spent goes back when it is published (LeaveBudgets).
//
// # Pause
//
// A paused run admits nothing and no unit of it begins, but who holds a lease may go on and commit: Renew tells it, and
// it should yield. Leases do not lapse to others meanwhile. When they have yielded, its clock stands. Resume admits
// what there is room for. The end of a run, and Cancel with report, end its pause.
//
// # Batches
//
// A run is open in its batch from Create until its line is kept, which Published does, and again from Retry. SealBatch
// says that no further runs are to come. A batch that is sealed, of which nothing is open, and of which something
// ended since its last digest, wants a digest: SweepBatch returns its generation, which the end of every run raises,
// and Digested says that it is stored. Batches that may want one stand in the index: SealBatch and the last line
// announce them. A look takes runs out of the open ones that only a crash has left there. Retry refused, or broken
// off, costs a second digest at most.
//
// # Epochs
//
// Retry raises the epoch of a run that has ended, fences its stages, makes its keys lasting again, and begins a new
// stream: RetryBlocks sends blocks back that failed or were cut short, with what they have found, unless they have had
// all their iterations, then they start anew; RetryReport goes straight to reporting; RetryAll, and any retry of a run
// without a plan, forgets everything but the generations. Its time begins anew with Options.Duration, without
// Options.Deadline.
//
// # Events
//
// The events of a run are one stream. A transition sends its events in its own script, so the stream never tells of
// what is not stored. Numbers have no gaps and go on from one epoch to the next, each of which begins a new stream
// that tells again what is done. An event with a key comes once an epoch. The script that appends an event adds its
// type to the content. Every block has one ir_question_done;
// progress never falls; summary_statistics and complete come once and last: Emit is refused after the end. The last
// 10,000 or so are kept; Events tells a reader who comes too late of the gap.
//
// # What goes wrong and what happens
//
//   - A worker dies between a script and the enqueueing of its intents: a sweep returns them again.
//   - A worker dies under its lease: after the lease a sweep gives the unit to its next generation, which goes on after the last checkpoint.
//   - A worker freezes and comes back: it is refused once the unit was given on.
//   - A reply is lost and the call made again, by its caller or by the client itself: Begin, CommitPlan, Await, Answer,
//     Checkpoint, EndBlock, CloseReview, Finish, Narrated, Retry and Published find that they were done and answer as
//     before, with all that the run now wants; Cancel, Pause, Resume and Sweep do what is left to do. Create says that
//     the run is there already. Yield and Release say ErrFenced, which is in order; Answered records a call once.
//   - Two last blocks end at once: "is nothing left?" is asked in the script that ends a block, so exactly one sees it.
//   - A task is delivered twice: ErrHeld, or ErrStale when the unit has moved on. Both mean that it is in order.
//   - Two blocks propose the same topic at once: proposals are judged outside (topicqueue.Judge) against a number of
//     blocks; the script refuses when that number has changed and the caller judges again.
//   - Publishing fails: the run is final and stays in Redis with its report, Run.Unpublished says why, until it succeeds.
//   - A publisher comes late, after a retry: ErrFenced. Of two lines for the batch's list, the later epoch's stays.
//
// # Keys
//
// TestKeys holds this table against what there is. BLOCK is block_1, block_2, ...; sizes were measured with
// redis-server 7 for a run of five blocks, four iterations each, without traces, usage and the events of its workers
// (which grow with what is found).
//
//	key                                     type        there                                               size
//	nightdesk:{RUN}:run                     hash        from Create                                         1.5 KB
//	nightdesk:{RUN}:work                    hash        leases, generations, memories of blocks, times     1.8 KB
//	nightdesk:{RUN}:plan                    string      from CommitPlan                                     0.6 KB
//	nightdesk:{RUN}:blocks                  hash        from CommitPlan                                     0.6 KB a block
//	nightdesk:{RUN}:queries                 list        from the first query                                0.1 KB a query
//	nightdesk:{RUN}:ledger                  list        from the first iteration that found something
//	nightdesk:{RUN}:returned                list        from the first call that returned something             0.1 KB an iteration
//	nightdesk:{RUN}:traces:plan             list        from CommitPlan, when there are any
//	nightdesk:{RUN}:traces:BLOCK            list        from the block's first trace
//	nightdesk:{RUN}:usage                   list        from the first model call
//	nightdesk:{RUN}:calls                   hash        with a budget: while model calls are in flight      0.1 KB a call
//	nightdesk:{RUN}:events                  stream      from the first event                                5 KB
//	nightdesk:{RUN}:watched                 string      ten seconds after ReadAlong                         0.1 KB
//	nightdesk:{RUN}:deltas                  stream      a minute after what a model wrote for a reader      0.3 KB
//	nightdesk:{RUN}:once                    set         with events: keys that were sent                    0.8 KB
//	nightdesk:{RUN}:todo                    list        while blocks wait
//	nightdesk:{RUN}:active                  sorted set  while blocks are in flight
//	nightdesk:{RUN}:report                  string      from Finish to Published                            the report
//	nightdesk:{RUN}:journal:plan            hash        see Journal
//	nightdesk:{RUN}:journal:review          hash        see Journal
//	nightdesk:{RUN}:journal:report          hash        see Journal
//	nightdesk:{RUN}:journal:narrate         hash        see Journal
//	nightdesk:{RUN}:journal:BLOCK           hash        see Journal
//	nightdesk:{index}:runs                  sorted set  an entry from Create until the run has ended
//	nightdesk:{index}:ended                 sorted set  an entry from then until the run is forgotten
//	nightdesk:{index}:states                hash        the same
//	nightdesk:{index}:waiting:LANE          sorted set  an entry while the run waits
//	nightdesk:{index}:fed:LANE              sorted set  an entry while its planning task waits
//	nightdesk:{index}:begun:LANE            set         an entry while the run is planned or researched
//	nightdesk:{index}:workers               sorted set  an entry from a worker's start until its stop, or a week after its death
//	nightdesk:{index}:digests               sorted set  an entry from SealBatch until the batch has its digest
//	nightdesk:{index}:clock                 hash        for ever                                            0.1 KB
//	nightdesk:{index}:stats                 hash        for ever                                            0.2 KB
//	nightdesk:{index}:schedules             hash        for ever, an entry a schedule                       0.5 KB, and 0.3 KB for each of its last 50 firings
//	nightdesk:batches                       sorted set  for ever, an entry a batch
//	nightdesk:batch:{BATCH}:state           hash        for ever, from SealBatch or the first published run       0.1 KB
//	nightdesk:batch:{BATCH}:open            set         an entry from Create until the run is published           0.09 KB a run
//	nightdesk:batch:{BATCH}:runs            sorted set  for ever, an entry a run                            0.15 KB a run
//	nightdesk:batch:{BATCH}:lines           hash        for ever, an entry a published run                  0.95 KB a run
//	nightdesk:batch:{BATCH}:budget          hash        for ever, when it has one                           0.1 KB a run
//	nightdesk:{index}:night:DATE            hash        8 days, of a night with a budget                    0.1 KB a run
//	nightdesk:probe                         string      a minute after Writable
//
// A run's keys never expire before it is published. Published deletes report, todo, active and the journals of blocks,
// and lets the others expire; usage that comes later expires with them. A run that waits takes 2.0 KB in all.
//
// Queue is safe for concurrent use.
package redisqueue
