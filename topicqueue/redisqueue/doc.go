// Package redisqueue keeps runs and their Dynamic Topic Queues in Redis. Every change is one Lua script on the keys of
// one run, which share the hash tag {run id}; nothing else in nightdesk knows Redis keys.
//
//	         Create            Begin(plan)         CommitPlan             last EndBlock          Finish
//	absent ----------> queued ------------> planning ---------> researching ----------> reporting ----------> completed
//	                                            |                  |  ^                     |                 partial
//	                                            +-- Finish --> failed +-- Checkpoint,       +---------------> failed
//	                                                                     EndBlock
//
//	block:   PENDING --(admit: at most Options.MaxParallel in flight)--> PENDING, in flight --Begin--> RESEARCHING
//	         --EndBlock--> COMPLETED | FAILED
//
// A unit of work is a run's plan, one of its blocks, or its report. Begin takes the unit's lease for one generation and
// writes the owner token of the attempt; every later script names both and is refused with ErrFenced when another
// attempt has taken over. So an attempt that was thought dead can do no harm.
//
// Scripts return intents: the tasks that the run now wants. The caller enqueues them under a task id made of run, unit
// and generation, so that doing it twice is harmless, and Sweep computes them again from state alone.
//
// What goes wrong and what happens:
//
//   - A reply is lost and the script is called again: Create, CommitPlan, Checkpoint, EndBlock and Finish find that they
//     were done and return what the run wants.
//   - Two last blocks end at once: "is nothing left?" is asked in the script that ends a block, so exactly one sees it.
//   - A task is delivered twice: Begin is refused with ErrHeld while the first attempt's lease lives, and takes over
//     with a new owner token once it has lapsed.
//   - Two blocks propose the same topic at once: proposals are judged outside (topicqueue.Judge) against a number of
//     blocks; the script refuses when that number has changed and the caller judges again.
//
// The events of a run are one stream, numbered without gaps by the scripts that append them. A transition sends its
// events in its own script, so the stream never tells of what is not stored. The last 10,000 or so are kept; Events
// tells a reader who comes too late of the gap.
//
// Queue is safe for concurrent use. Start reading with Queue, Begin and Checkpoint.
package redisqueue
