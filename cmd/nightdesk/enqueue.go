package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/jobs"
	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue/redisqueue"
)

func (a *app) enqueueCommand() *cobra.Command {
	var batch, priority string
	var skipInvalid bool
	cmd := &cobra.Command{
		Use:   "enqueue FILE|-",
		Short: "Put a list of topics into the queue, one a line",
		Long: `Put a list of topics into the queue, one a line. Empty lines and lines that begin with "# " are left out.
The same topic in the same batch is one run: enqueueing a file into a batch again adds only what is new.`,
		Args: cobra.ExactArgs(1),
		RunE: a.command(func(cmd *cobra.Command, args []string) error {
			return a.enqueue(cmd.Context(), args[0], batch, priority, skipInvalid)
		}),
	}
	a.runFlags(cmd)
	cmd.Flags().StringVar(&batch, "batch", "", "name of the batch (default: a new one)")
	cmd.Flags().StringVar(&priority, "priority", "normal", "high, normal or low")
	cmd.Flags().BoolVar(&skipInvalid, "skip-invalid", false, "enqueue the valid lines of a list with errors")
	return cmd
}

// topicLine is one topic of a list.
type topicLine struct {
	line  int // counted from 1
	topic string
}

// maxLine bounds one line of a list, so that a file which is no list cannot fill the memory.
const maxLine = 4 << 20

// readTopics reads a list. problems: one per invalid line. The error is for what ends the reading.
func readTopics(r io.Reader) (topics []topicLine, problems []string, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for lines.Scan() {
		n++
		topic := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if topic == "" || topic == "#" || strings.HasPrefix(topic, "# ") {
			continue
		}
		if problem := jobs.CheckTopic(topic); problem != nil {
			problems = append(problems, fmt.Sprintf("line %d: %v", n, problem))
			continue
		}
		topics = append(topics, topicLine{line: n, topic: topic})
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		problems = append(problems, fmt.Sprintf("line %d has more than %d bytes; one topic a line, as text", n+1, maxLine))
		return topics, problems, nil
	}
	return topics, problems, lines.Err()
}

func (a *app) enqueue(ctx context.Context, file, batch, priority string, skipInvalid bool) (err error) {
	lane, err := laneOf(priority)
	if err != nil {
		return err
	}
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return usageError{fmt.Errorf("read topics: %w", err)}
		}
		defer f.Close()
		in = f
	}
	topics, problems, err := readTopics(in)
	if err != nil {
		return fmt.Errorf("read topics from %s: %w", file, err)
	}
	if len(problems) > 0 {
		const most = 20
		shown := problems[:min(most, len(problems))]
		text := fmt.Sprintf("%d of the lines of %s cannot be enqueued:\n  %s", len(problems), file, strings.Join(shown, "\n  "))
		if len(problems) > most {
			text += fmt.Sprintf("\n  and %d more", len(problems)-most)
		}
		if !skipInvalid {
			return usageError{hintError{errors.New(text), "Nothing was enqueued. Correct them, or leave them out with --skip-invalid."}}
		}
		a.say("%s", text)
	}
	if len(topics) == 0 {
		return usageError{fmt.Errorf("there is no topic in %s: give one a line", file)}
	}
	d, err := a.openWorkingDesk(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	options, err := a.options(ctx)
	if err != nil {
		return err
	}
	if options.KnowledgeVersion, err = a.publish(ctx, options.KnowledgeBase); err != nil {
		return err
	}
	now := time.Now()
	if batch == "" {
		batch = "batch_" + now.UTC().Format("20060102_150405") + "_" + strings.ToLower(rand.Text()[:6])
	}
	if err := checkBatchName(batch); err != nil {
		return err
	}
	created, err := d.queue.OpenBatch(ctx, batch, now)
	if err != nil {
		return err
	}
	bar := a.newBar("enqueueing")
	added := 0
	for i, t := range topics {
		// A microsecond apart: lists show runs in the order of the file.
		sub, err := d.dispatcher.Enqueue(ctx, d.queue, redisqueue.Batch{Name: batch, CreatedAt: created}, t.topic, options, lane, now.Add(time.Duration(i)*time.Microsecond))
		if err != nil {
			bar.end()
			return hintError{fmt.Errorf("line %d: %w", t.line, err),
				fmt.Sprintf("%d topics are in the queue; enqueue the file again with --batch %s to add the rest.", added, batch)}
		}
		if sub.Created {
			added++
		}
		if a.json {
			if err := a.printJSON(lineOf(sub.Run, "", sub.Created), true); err != nil {
				return err
			}
		}
		bar.set(i+1, len(topics), "")
	}
	bar.end()
	if !a.json {
		fmt.Fprintf(a.stdout, "batch %s: %d topics enqueued", batch, added)
		if known := len(topics) - added; known > 0 {
			fmt.Fprintf(a.stdout, ", %d were there already", known)
		}
		fmt.Fprintln(a.stdout)
		a.say("work them with `nightdesk worker`, look at them with `nightdesk list --batch %s`", batch)
	}
	return nil
}

func laneOf(priority string) (string, error) {
	switch priority {
	case "high":
		return jobs.LaneHigh, nil
	case "normal", "":
		return "", nil
	case "low":
		return jobs.LaneLow, nil
	}
	return "", usageError{fmt.Errorf("priority %q is unknown: use high, normal or low", priority)}
}

// checkBatchName: a batch name is part of Redis keys and of storage keys.
func checkBatchName(name string) error {
	ok := name != "" && len(name) <= 100 && name[0] != '.'
	for _, r := range name {
		ok = ok && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if !ok {
		return usageError{fmt.Errorf("batch name %q: use at most 100 letters, digits and the signs - _ . only", name)}
	}
	return nil
}

// publish puts the knowledge base as it is now into the storage, from where workers on any machine fetch it, and returns
// the version that the runs are to use, whatever becomes of the base meanwhile.
func (a *app) publish(ctx context.Context, kb string) (version string, err error) {
	if kb == "" {
		return "", nil
	}
	store, err := a.store(ctx)
	if err != nil {
		return "", err
	}
	err = a.withBase(kb, func(b *knowledge.Base) error {
		version, err = knowledge.Publish(ctx, b, store)
		return err
	})
	return version, err
}
