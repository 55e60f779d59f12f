// Package redisqueue stores runs and their Dynamic Topic Queues in Redis. Each change of a run is one Lua script on
// the keys of that run, which share the hash tag {run id}. No package of nightdesk outside redisqueue and its
// sub-packages knows Redis keys. Start reading with Queue, Begin and Sweep. State that workers share outside the runs
// has its own packages: governor for the calls to model servers, shared for answers, rates and the clock. Package lua
// holds the scripts of all of them.
//
// Queue consists of parts, each with the methods for one kind of caller: reader (contents of runs), along (text that
// models are writing), attempts (work under a lease), controls (a person's commands), upkeep (feeding, sweeping,
// counting), batches, budgets (shared by runs) and schedules. All embed base, which calls the scripts of a run and
// updates the index.
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
// From every state that is not final:
//
//	Cancel                     -> cancelled; every block ends: COMPLETED if it has traces, else FAILED;
//	                              narrating -> the state set by Finish
//	Cancel with report         -> reporting, sealed, if there is a plan; narrating -> the state set by Finish
//	Sweep, research time over  -> reporting, sealed (from planning, awaiting_input, researching, reviewing)
//	Sweep, no answer in time   -> planning, which continues without an answer (from awaiting_input)
//	Sweep, final time over     -> as above, and the sweeper gets the report's lease; queued -> failed;
//	                              narrating -> the state set by Finish
//	Sweep, MaxLapses lapses    planning -> failed; reviewing -> reporting; narrating -> set by Finish; a block -> FAILED
//	Finish by planning         planning -> failed (or another final state)
//	Pause, Resume              no change of state: a paused run wants no task until Resume or its end
//
// From a final state, Retry leads to researching, or to queued for the whole run, and starts the run's next epoch.
//
// # Permitted calls
//
// A unit of work is a run's plan, one of its blocks, its review, report, narration, or its publishing. Begin takes a
// unit's lease for one generation and writes the owner token of the attempt. Every later script of the attempt passes
// both: CommitPlan and Await with the plan's lease; Checkpoint and EndBlock with a block's; CloseReview with the
// review's; Finish with the plan's or the report's; Narrated with the narration's; Published and Unpublished with the
// publishing's; Emit, Yield, Release and Renew with any. If the unit has another generation or owner, they return
// ErrFenced, and Renew lists the unit as lost. A lapsed lease remains valid until another attempt takes the unit. A
// zombie attempt therefore cannot write. Create, Answer, Cancel, Pause, Resume, Retry, Sweep and Advance need no
// lease. Journal and Answered do not check it either, because a call that was made is paid for, whoever made it.
// Reserve needs any lease.
//
// # Intents, index and feeder
//
// Scripts return intents: the tasks that the run now wants. The caller enqueues them under a task id made of run,
// unit and generation, so enqueueing twice is harmless. Sweep computes them again from the state alone, for units
// that no attempt holds. A run that is paused or waits for an answer wants no task. A run in a final state wants to
// be published, and a published run wants nothing.
//
// The run index says when each run is checked next. It is in a different slot than the runs, so no script can change
// both; the order of the writes compensates for this. A transition whose tasks could be lost is announced beforehand
// if no sweep checks the run often: Create, Answer, Cancel, Resume, Retry. Announcing brings the next check forward
// to a quarter of a lease, for Create to 30 s. A run in work is checked that often anyway. After every transition
// that moves a run on, the index gets its new state, and the check is brought forward again. After a check, a sweep
// sets the next one: in a quarter of a lease; for a run that is queued, waits for an answer, or is paused without a
// lease holder, at its next deadline, at the end of the wait, or never. A sweep never postpones or removes a run
// whose check is due within that quarter, because that check was announced meanwhile. Due hands each due run to one
// sweeper, and to another after 30 s. A sweep that finds a run published removes it from the index.
//
// A queued run has no task until Feed takes it from the waiting runs of its lane, oldest first, while fewer runs have
// a task than the caller wants. Runs held by MayBegin do not count, up to three times that number. A run leaves both
// sets when planning begins, or when it is paused or ends. A sweep puts back a run that was resumed or retried, or
// whose Create was interrupted.
//
// Feed begins no more runs than the workers have slots. Each run in planning or research, of this lane and of the
// lanes served before it, takes one slot, even while no worker holds it. A run with a report to write takes none,
// because workers reserve slots for reports. A worker reports its slots with each Beat. A worker that has just
// started counts only workers seen since its start, because earlier ones may have been killed.
//
// # Leases and lapses
//
// A lease lives for Timing.Lease unless it is renewed (Renew, Checkpoint). Begin returns ErrHeld while another
// attempt's lease lives, and takes over a lapsed one. If takeover is allowed, Sweep gives a unit with a lapsed lease
// to its next generation and counts the lapse. The count restarts at 1 if there was a checkpoint or journal entry
// since the last lapse. At MaxLapses the unit is given up as shown above. Two units differ: a report learns from
// Begun.Lapses that it should do without its model, and publishing is repeated without limit. Yield gives a unit to
// its next generation at once; Release frees it within the same generation. If no worker swept for Timing.Gap, Due
// allows no takeover for Timing.Quiet, because Redis was unreachable for all workers and silence proves nothing.
// Advance gives a unit without a holder to its next generation if the job queue's task for this generation is dead,
// or has been active for Timing.Stuck without having begun.
//
// # Review
//
// CloseReview stores the review in the run's hash until the next one, so that the report need not ask again which
// blocks are one subject. A retry with new research drops it. If the review kills its workers, a note that it was not
// done replaces it.
//
// # Deadlines and the clock of a run
//
// The first Begin of planning sets the end of the run (final): Options.Duration later, but not after
// Options.Deadline. It also sets the end of research (seal): Options.WritingTime before final, which may take at most
// half of the time. Before that only Options.Deadline counts. The sweep enforces both, also for a paused run. Past
// final it gives the lease of the report's next generation to the sweeper (Swept.Forced), whoever held it. It repeats
// this each quarter of a lease until the run has ended; the sweeper commits the existing results. A sealed run
// accepts no more blocks and is not narrated. Run.Narration says why a report is not read aloud.
//
// A duration counts only time in which the run is worked on. Every call under a lease is a sign of life, and between
// two of them at most half a lease counts. While no lease of the run is held, no time counts: its worker was killed,
// or the run waits for a slot or an answer, or is paused. Uncounted time postpones seal and final, but never beyond
// Options.Deadline, which is absolute. A Redis outage, a suspended machine or a clock jump therefore costs a run
// seconds at most. The time that a block has taken (Begun.Spent) uses the same clock.
//
// # Journal
//
// An entry is stored under unit and place. The first writer wins, whatever its generation, and every writer gets the
// stored value. The entries of a block are deleted with its checkpoint and its end, those of the plan when it is
// committed, those of every stage at the end of the run. After the end, or for another epoch, nothing is stored, and
// the writer gets its own value back.
//
// # Budgets
//
// Answered stores an answer and its usage in one script. A journaled answer is therefore always in the accounts, and
// an accounted call is not repeated, whenever a worker dies. Only calls in flight at that moment are made and paid
// twice, and their first tries are in no account. For a run with a budget the script adds up the spending, in the
// unit of the budget. Reserve refuses a call if the remaining budget, less the reservations of calls in flight, does
// not cover it. A run can therefore exceed its limit only by the cost of calls in flight above their reservations, or
// when their worker died.
//
// The budget of a batch, and that of a night, are in different slots than the runs. Before each iteration a run draws
// its share there and then sets it as its limit (Purse); the pool's script keeps the sum of all shares below the
// budget. Both steps are idempotent. The unspent part of a share goes back when the run is published (LeaveBudgets).
//
// # Pause
//
// A paused run admits no blocks and none of its units begin. An attempt that holds a lease may continue and commit:
// Renew reports the pause, and the attempt should yield. Meanwhile no other attempt takes over a lapsed lease. When
// all attempts have yielded, the run's clock stops. Resume admits as many blocks as there is room for. The end of a
// run, and Cancel with report, end its pause.
//
// # Batches
//
// A run is open in its batch from Create until Published has stored its line, and again from Retry. SealBatch marks
// that no further runs are to come. A batch wants a digest if it is sealed, has no open runs, and a run has ended
// since its last digest. SweepBatch returns the digest's generation, which the end of every run raises, and Digested
// marks it as stored. Batches that may want a digest are in the index: SealBatch and the last line announce them. A
// check removes runs from the open ones that only a crash has left there. A Retry that is refused or interrupted
// causes at most a second digest.
//
// # Epochs
//
// Retry raises the epoch of a run that has ended, fences its stages, removes the expiry of its keys, and begins a new
// stream. RetryBlocks resets blocks that failed or were cut short. They keep their findings, unless they have had all
// their iterations; then they start over. RetryReport goes directly to reporting. RetryAll, and any retry of a run
// without a plan, deletes everything but the generations. The run's time starts again with Options.Duration, without
// Options.Deadline.
//
// # Events
//
// The events of a run are one stream. A transition sends its events in its own script, so the stream never reports
// state that is not stored. Numbers have no gaps and continue from one epoch to the next. Each epoch begins a new
// stream, which repeats the events of finished work. An event with a key occurs once per epoch. The script that
// appends an event adds its type to the content. Every block has one ir_question_done. Progress never decreases.
// summary_statistics and complete occur once and last, because Emit is refused after the end. The last 10,000 or so
// are kept; Events reports the gap to a reader that comes too late.
//
// # Failures and their handling
//
//   - A worker dies between a script and the enqueueing of its intents: a sweep returns them again.
//   - A worker dies while it holds a lease: after the lease, a sweep gives the unit to its next generation, which
//     continues after the last checkpoint.
//   - A worker freezes and comes back: it is refused if the unit has a new generation.
//   - A reply is lost, and the caller or the client itself repeats the call: Begin, CommitPlan, Await, Answer,
//     Checkpoint, EndBlock, CloseReview, Finish, Narrated, Retry and Published recognize the repetition and answer as
//     before, with all that the run now wants. Cancel, Pause, Resume and Sweep do the remaining work. Create reports
//     that the run exists. Yield and Release return ErrFenced, which is harmless. Answered records a call once.
//   - The last two blocks end at the same time: the script that ends a block checks whether any are left, so exactly
//     one finds none.
//   - A task is delivered twice: Begin returns ErrHeld, or ErrStale if the unit has moved on. Neither is a fault.
//   - Two blocks propose the same topic at the same time: proposals are judged outside the script (topicqueue.Judge)
//     against a number of blocks. The script refuses if that number has changed, and the caller judges again.
//   - Publishing fails: the run is final and stays in Redis with its report until publishing succeeds. Run.Unpublished
//     says why.
//   - A publisher comes late, after a retry: ErrFenced. Of two lines for the batch's list, the later epoch's stays.
//
// # Keys
//
// TestKeys compares this table with the keys in use. BLOCK is block_1, block_2, ... Sizes were measured with
// redis-server 7 for a run of five blocks with four iterations each. They exclude traces, usage and the events of
// workers, which grow with the findings.
//
//	key                              type        there                                            size
//	nightdesk:{RUN}:run              hash        from Create                                      1.5 KB
//	nightdesk:{RUN}:work             hash        leases, generations, memories of blocks, times   1.8 KB
//	nightdesk:{RUN}:plan             string      from CommitPlan                                  0.6 KB
//	nightdesk:{RUN}:blocks           hash        from CommitPlan                                  0.6 KB per block
//	nightdesk:{RUN}:queries          list        from the first query                             0.1 KB per query
//	nightdesk:{RUN}:ledger           list        from the first iteration that found something
//	nightdesk:{RUN}:returned         list        from the first call that returned something      0.1 KB per iteration
//	nightdesk:{RUN}:traces:plan      list        from CommitPlan, if any
//	nightdesk:{RUN}:traces:BLOCK     list        from the block's first trace
//	nightdesk:{RUN}:usage            list        from the first model call
//	nightdesk:{RUN}:calls            hash        with a budget, while model calls are in flight   0.1 KB per call
//	nightdesk:{RUN}:events           stream      from the first event                             5 KB
//	nightdesk:{RUN}:watched          string      for ten seconds after ReadAlong                  0.1 KB
//	nightdesk:{RUN}:deltas           stream      for a minute after the last piece of an answer   0.3 KB
//	nightdesk:{RUN}:once             set         with events: keys already sent                   0.8 KB
//	nightdesk:{RUN}:todo             list        while blocks wait
//	nightdesk:{RUN}:active           sorted set  while blocks are in flight
//	nightdesk:{RUN}:report           string      from Finish to Published                         the report
//	nightdesk:{RUN}:journal:plan     hash        see Journal
//	nightdesk:{RUN}:journal:review   hash        see Journal
//	nightdesk:{RUN}:journal:report   hash        see Journal
//	nightdesk:{RUN}:journal:narrate  hash        see Journal
//	nightdesk:{RUN}:journal:BLOCK    hash        see Journal
//	nightdesk:{index}:runs           sorted set  an entry from Create until the run has ended
//	nightdesk:{index}:ended          sorted set  an entry from then until the run leaves the index
//	nightdesk:{index}:states         hash        an entry from Create until the run leaves the index
//	nightdesk:{index}:waiting:LANE   sorted set  an entry while the run waits
//	nightdesk:{index}:fed:LANE       sorted set  an entry while its planning task waits
//	nightdesk:{index}:begun:LANE     set         an entry while the run is planned or researched
//	nightdesk:{index}:workers        sorted set  an entry until a worker's stop, or a week after its death
//	nightdesk:{index}:digests        sorted set  an entry from SealBatch until the batch has its digest
//	nightdesk:{index}:clock          hash        for ever                                         0.1 KB
//	nightdesk:{index}:stats          hash        for ever                                         0.2 KB
//	nightdesk:{index}:schedules      hash        for ever, one entry per schedule                 0.5 KB, 0.3 KB a firing
//	nightdesk:batches                sorted set  for ever, one entry per batch
//	nightdesk:batch:{BATCH}:state    hash        for ever, from SealBatch or a published run      0.1 KB
//	nightdesk:batch:{BATCH}:open     set         an entry from Create until the run is published  0.09 KB per run
//	nightdesk:batch:{BATCH}:runs     sorted set  for ever, one entry per run                      0.15 KB per run
//	nightdesk:batch:{BATCH}:lines    hash        for ever, one entry per published run            0.95 KB per run
//	nightdesk:batch:{BATCH}:budget   hash        for ever, if it has one                          0.1 KB per run
//	nightdesk:{index}:night:DATE     hash        8 days, for a night with a budget                0.1 KB per run
//	nightdesk:probe                  string      for a minute after Writable
//
// A run's keys never expire before it is published. Published deletes report, todo, active and the journals of
// blocks, and sets an expiry for the others; later usage expires with them. A waiting run takes 2.0 KB in all.
//
// Queue is safe for concurrent use.
package redisqueue
