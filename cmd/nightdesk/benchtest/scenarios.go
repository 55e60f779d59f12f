package benchtest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nightdesk/config"
	"nightdesk/storage"
)

// Settings determine the size of a scenario. Zero values stand for the scenario's defaults.
type Settings struct {
	Program string        `json:"-"` // path of nightdesk
	Preset  string        `json:"preset,omitempty"`
	Latency time.Duration `json:"latency,omitempty"` // of the model
	Topics  int           `json:"topics,omitempty"`
	Cap     int           `json:"cap,omitempty"`     // maximum concurrent calls of the model
	Workers int           `json:"workers,omitempty"` // processes
	Slots   int           `json:"slots,omitempty"`   // worker.concurrency of each
	Kills   int           `json:"kills,omitempty"`
	Pages   int           `json:"pages,omitempty"`
	Window  time.Duration `json:"window,omitempty"` // duration of the observation
	KB      bool          `json:"knowledge_base,omitempty"`
}

// noteClaims is the maximum number of claims in a note.
const noteClaims = 12

// Scenario is something to measure.
type Scenario struct {
	Name, About string
	settings    Settings
	measure     func(ctx context.Context, s Settings) ([]Figure, error)
}

// Scenarios returns all scenarios in the order of measuring.
func Scenarios() []Scenario {
	return []Scenario{
		{"single", "one topic, from start to end of the command",
			Settings{Preset: "medium", Latency: time.Second}, single},
		{"batch", "many topics, one worker, and a model that rejects calls above a limit",
			Settings{Preset: "medium", Latency: time.Second, Topics: 20, Cap: 16, Workers: 1, Slots: 20}, batch},
		{"storm", "a batch whose workers are killed and restarted",
			Settings{Preset: "medium", Latency: 200 * time.Millisecond, Topics: 10, Kills: 5, Workers: 3, Slots: 6}, storm},
		{"enqueue", "a long list of topics is enqueued", Settings{Topics: 100_000}, enqueue},
		{"idle", "an idle worker", Settings{Slots: 20, Window: 10 * time.Second}, idle},
		{"index", "pages are indexed into a knowledge base", Settings{Pages: 1000}, index},
		{"verify", "the bundle of a run is checked again", Settings{Preset: "medium"}, verify},
	}
}

// model returns the model for a preset.
func (s Settings) model() (Model, error) {
	none := func(string) string { return "" }
	cfg, err := config.Load("", false, none, map[string]string{"preset": cmp.Or(s.Preset, "medium")})
	return Model{Parts: cfg.Planning.Decompose.InitialSubtopics, Claims: noteClaims, Web: !s.KB}, err
}

// open creates a desk for topics. queue adds a Redis.
func (s Settings) open(ctx context.Context, queue bool) (*desk, error) {
	model, err := s.model()
	if err != nil {
		return nil, err
	}
	server, err := serve(s.Latency, s.Cap, model)
	if err != nil {
		return nil, err
	}
	d, err := newDesk(ctx, s.Program, server, queue, !s.KB)
	if err != nil || !s.KB {
		return d, err
	}
	if err := writePages(filepath.Join(d.dir, "pages"), cmp.Or(s.Pages, 300)); err != nil {
		return nil, errors.Join(err, d.close())
	}
	if _, _, err := d.do(ctx, "kb", "add", "--name", "pages", "pages"); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// topics returns the arguments for researching topics.
func (s Settings) topics() []string {
	args := []string{"--preset", s.Preset}
	if s.KB {
		args = append(args, "--kb", "pages")
	}
	return args
}

func single(ctx context.Context, s Settings) (f []Figure, err error) {
	d, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	_, u, err := d.do(ctx, append([]string{"run", Topic(0), "--json"}, s.topics()...)...)
	if err != nil {
		return nil, err
	}
	t := d.sum()
	ideal := time.Duration(t.chain) * s.Latency
	f = append(f, seconds("wall time", u.wall), Figure{Name: "calls one after the other", Value: float64(t.chain)},
		times("wall / (chain x latency)", u.wall, ideal),
		seconds("before the first call", t.first.Sub(time.Now().Add(-u.wall))))
	return append(f, t.figures(u)...), nil
}

// figures returns the figures for the calls of a process.
func (t traffic) figures(u usage) []Figure {
	return []Figure{
		{Name: "model calls", Value: float64(t.calls)},
		{Name: "prompts", Unit: "characters", Value: float64(t.asked)},
		{Name: "answers", Unit: "characters", Value: float64(t.said)},
		percent("prompt text in repeated prefixes", t.repeated, t.asked).more(),
		percent("prompt text of blocks in repeated prefixes", t.blockRepeats, t.blockAsked).more(),
		{Name: "processor time for a call", Unit: "ms", Value: ms(u.cpu) / float64(max(t.calls, 1))},
		megabytes("memory at most", u.memory),
	}
}

func batch(ctx context.Context, s Settings) (f []Figure, err error) {
	d, err := s.open(ctx, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if _, err = d.enqueue(ctx, s.Topics, s.topics()...); err != nil {
		return nil, err
	}
	began := time.Now()
	var workers []*process
	for range s.Workers {
		w, err := d.worker(ctx, s.Slots)
		if err != nil {
			return nil, err
		}
		workers = append(workers, w)
	}
	if err := d.finish(ctx, s.Topics); err != nil {
		return nil, err
	}
	wall, sum := time.Since(began), usage{}
	for _, w := range workers {
		u, err := w.stop()
		if err != nil {
			return nil, err
		}
		sum.cpu, sum.memory = sum.cpu+u.cpu, max(sum.memory, u.memory)
	}
	t, places := d.sum(), s.Cap
	if places == 0 {
		places = s.Workers * s.Slots
	}
	completed, err := d.completed(ctx)
	if err != nil {
		return nil, err
	}
	ideal := time.Duration(t.calls) * s.Latency / time.Duration(places)
	f = append(f, seconds("wall time", wall), times("wall / (calls x latency / cap)", wall, ideal),
		Figure{Name: "topics a minute", Value: float64(s.Topics) / wall.Minutes(), More: true},
		percent("completed", completed, s.Topics).more(), percent("calls refused", t.refused, t.calls+t.refused),
		Figure{Name: "processor time for a topic", Unit: "ms", Value: ms(sum.cpu) / float64(s.Topics)})
	return append(f, t.figures(sum)...), nil
}

// worker starts a worker.
func (d *desk) worker(ctx context.Context, slots int) (*process, error) {
	return d.start(ctx, "worker", "--concurrency", fmt.Sprint(slots))
}

// completed returns the number of completed runs in the batch.
func (d *desk) completed(ctx context.Context) (n int, err error) {
	out, _, err := d.do(ctx, "list", "--batch", "bench", "--json")
	return strings.Count(out, `"state":"completed"`), err
}

func storm(ctx context.Context, s Settings) (f []Figure, err error) {
	d, err := s.open(ctx, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if _, err := d.enqueue(ctx, s.Topics, s.topics()...); err != nil {
		return nil, err
	}
	began := time.Now()
	workers := make([]*process, s.Workers)
	for i := range workers {
		if workers[i], err = d.worker(ctx, s.Slots); err != nil {
			return nil, err
		}
	}
	for kills := 0; kills < s.Kills; kills++ { // the next kill follows after some progress
		calls := d.sum().calls
		for d.sum().calls < calls+10 && d.bundles() < s.Topics && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond) // poll: other processes do the work
		}
		i := kills % len(workers)
		if err := workers[i].Process.Kill(); err != nil {
			return nil, err
		}
		_, _ = workers[i].wait() // it was killed
		if workers[i], err = d.worker(ctx, s.Slots); err != nil {
			return nil, err
		}
	}
	last := time.Now()
	if err := d.finish(ctx, s.Topics); err != nil {
		return nil, err
	}
	wall, after := time.Since(began), time.Since(last)
	for _, w := range workers {
		if _, err := w.stop(); err != nil {
			return nil, err
		}
	}
	completed, err := d.completed(ctx)
	t := d.sum()
	return []Figure{seconds("wall time", wall), seconds("from the last kill to the last report", after),
		percent("completed", completed, s.Topics).more(), {Name: "model calls", Value: float64(t.calls)},
		{Name: "calls made again", Value: float64(t.again)}}, err
}

func enqueue(ctx context.Context, s Settings) (f []Figure, err error) {
	d, err := s.open(ctx, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := WriteList(filepath.Join(d.dir, "list.csv"), s.Topics); err != nil {
		return nil, err
	}
	before, err := CostOf(ctx, d.redis.Client)
	if err != nil {
		return nil, err
	}
	_, u, err := d.do(ctx, "enqueue", "list.csv", "--batch", "bench")
	if err != nil {
		return nil, err
	}
	after, err := CostOf(ctx, d.redis.Client)
	return []Figure{seconds("wall time", u.wall), seconds("processor time of the command", u.cpu),
		seconds("processor time of Redis", after.Processor-before.Processor),
		megabytes("memory of the command at most", u.memory),
		{Name: "memory of Redis for a topic", Unit: "bytes", Value: float64(after.Memory-before.Memory) / float64(s.Topics)},
	}, err
}

// WriteList writes a CSV file with topics of 100 characters. It streams the file, because the peak memory of a child
// process includes what its parent used when the child started.
func WriteList(path string, topics int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	list := bufio.NewWriter(file)
	fmt.Fprintln(list, "topic,id,tags,preset,priority")
	for i := range topics {
		topic := fmt.Sprintf("What is known about the inspection of harbour number %d and of its quays, cranes, pilots, tugs",
			i)
		fmt.Fprintf(list, "\"%-99s?\",case-%d,\"harbour, set%d\",%s,%s\n", topic, i, i%7,
			[]string{"quick", "medium", ""}[i%3], []string{"high", "", "low"}[i%3])
	}
	return errors.Join(list.Flush(), file.Close())
}

func idle(ctx context.Context, s Settings) (f []Figure, err error) {
	d, err := s.open(ctx, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	var took [2]usage // of workers stopped after half a window and after one and a half
	var before, after RedisCost
	for i, window := range []time.Duration{s.Window / 2, s.Window + s.Window/2} {
		w, err := d.worker(ctx, s.Slots)
		if err != nil {
			return nil, err
		}
		if before, err = CostOf(ctx, d.redis.Client); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(window): // another process is measured
		}
		if after, err = CostOf(ctx, d.redis.Client); err != nil {
			return nil, err
		}
		if took[i], err = w.stop(); err != nil {
			return nil, err
		}
	}
	part := func(d time.Duration) float64 { return 100 * d.Seconds() / s.Window.Seconds() }
	return []Figure{{Name: "processor", Unit: "% of a core", Value: max(0, part(took[1].cpu-took[0].cpu))},
		{Name: "processor of Redis", Unit: "% of a core", Value: part(after.Processor-before.Processor) / 1.5},
		{Name: "commands of Redis a second", Value: float64(after.Calls-before.Calls) / (1.5 * s.Window.Seconds())},
		megabytes("memory at most", took[1].memory)}, nil
}

func index(ctx context.Context, s Settings) (f []Figure, err error) {
	d, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := writePages(filepath.Join(d.dir, "pages"), s.Pages); err != nil {
		return nil, err
	}
	_, u, err := d.do(ctx, "kb", "add", "--name", "pages", "pages")
	if err != nil {
		return nil, err
	}
	_, query, err := d.do(ctx, "kb", "search", "pages", "who pays for the cranes and the quays")
	return []Figure{seconds("wall time", u.wall), seconds("processor time", u.cpu),
		{Name: "pages a second", Value: float64(s.Pages) / u.wall.Seconds(), More: true},
		megabytes("memory at most", u.memory), {Name: "a search with the command", Unit: "ms", Value: ms(query.wall)}}, err
}

func verify(ctx context.Context, s Settings) (f []Figure, err error) {
	d, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	out, _, err := d.do(ctx, append([]string{"run", Topic(0), "--json"}, s.topics()...)...)
	if err != nil {
		return nil, err
	}
	var run struct {
		ID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		return nil, err
	}
	files, size, err := d.size(storage.CacheKey(run.ID, ""))
	if err != nil {
		return nil, err
	}
	_, u, err := d.do(ctx, "verify", run.ID)
	return []Figure{seconds("wall time", u.wall), seconds("processor time", u.cpu), megabytes("memory at most", u.memory),
		{Name: "files", Value: float64(files)}, megabytes("size of the files", size)}, err
}

// size returns the number of files in a storage directory and their total size in bytes.
func (d *desk) size(dir string) (files int, size int64, err error) {
	err = filepath.WalkDir(filepath.Join(d.data(), dir), func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files, size = files+1, size+info.Size()
		}
		return err
	})
	return files, size, err
}
