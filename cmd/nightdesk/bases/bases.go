// Package bases indexes, finds and publishes knowledge bases and the documents of --attach. The name of a knowledge
// base means the same on all machines that share a storage: what one of them has added is fetched where it is used.
//
// Entry point: [New].
package bases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
)

// Bases gives access to the knowledge bases of this machine.
type Bases struct {
	cfg    config.Config
	con    *view.Console
	Dir    string
	names  []string        // of this machine and of the storage; nil: not known, or changed since
	latest map[string]bool // names that update has looked at: a command does it once for each
}

// New returns the knowledge bases in the data directory. The value is for one command or request.
func New(cfg config.Config, con *view.Console) *Bases {
	return &Bases{cfg: cfg, con: con, Dir: wiring.KnowledgeDir(cfg), latest: map[string]bool{}}
}

// Names lists the knowledge bases of this machine and of the storage.
func (b *Bases) Names(ctx context.Context) ([]string, error) {
	if b.names != nil {
		return b.names, nil
	}
	names, err := knowledge.List(b.Dir)
	if err != nil {
		return nil, err
	}
	store, err := wiring.OpenStore(ctx, b.cfg)
	if err == nil {
		var stored []string
		stored, err = knowledge.Published(ctx, store)
		names = append(names, stored...)
	}
	if err != nil {
		b.con.Say("only the knowledge bases of this machine are known: %v", err)
	}
	slices.Sort(names)
	b.names = slices.Compact(names)
	return b.names, nil
}

// update brings the knowledge base of this machine to what was published last, if anything was. Without the storage,
// it is used as it is.
func (b *Bases) update(ctx context.Context, name string) error {
	if b.latest[name] {
		return nil
	}
	store, err := wiring.OpenStore(ctx, b.cfg)
	fetched := false
	if err == nil {
		fetched, err = knowledge.Update(ctx, store, b.Dir, name)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, knowledge.ErrDamaged):
		return view.Hint(err, fmt.Sprintf("Index the documents again: `nightdesk kb remove %s`, then `nightdesk kb add "+
			"--name %[1]s DIR`.", name))
	case err != nil:
		b.con.Say("knowledge base %s is used as it is on this machine: %v", name, err)
	case fetched:
		b.con.Say("knowledge base %s was fetched from the storage", name)
	}
	b.latest[name] = true
	return nil
}

// Exists returns nil if a knowledge base has this name; otherwise its error lists the existing ones.
func (b *Bases) Exists(ctx context.Context, name string) error {
	names, err := b.Names(ctx)
	if err != nil || slices.Contains(names, name) {
		return err
	}
	hint := "There is none yet; make one with `nightdesk kb add --name NAME DIR`."
	if len(names) > 0 {
		hint = "There are: " + strings.Join(names, ", ")
	}
	return view.NotFound(fmt.Errorf("there is no knowledge base and no directory %q", name), hint)
}

// With calls do with an existing knowledge base, then closes it.
func (b *Bases) With(ctx context.Context, name string, do func(*knowledge.Base) error) error {
	path, err := knowledge.Path(b.Dir, name)
	if err != nil {
		return cmp.Or(b.Exists(ctx, name), view.Usage(err))
	}
	if err := b.update(ctx, name); err != nil {
		return err
	}
	base, err := knowledge.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(b.Exists(ctx, name), err)
	}
	if err != nil {
		return err
	}
	return errors.Join(do(base), base.Close())
}

// check returns an error if a knowledge base does not exist or is empty.
func (b *Bases) check(ctx context.Context, name string) error {
	info, err := b.Info(ctx, name)
	if err == nil && info.Passages == 0 {
		err = view.Hint(fmt.Errorf("knowledge base %s is empty", name), "Fill it with `nightdesk kb add --name "+name+
			" DIR`.")
	}
	return err
}

// Resolve returns the knowledge base that a value of --kb means: its name, or a directory or file, which Resolve
// indexes first.
func (b *Bases) Resolve(ctx context.Context, value string) (string, error) {
	name, path, err := b.Find(ctx, value)
	if err != nil || path == "" {
		return name, err
	}
	rep, err := b.Ingest(ctx, name, []string{path})
	if err == nil {
		err = b.With(ctx, name, func(base *knowledge.Base) error { return b.embed(ctx, base, name, false, soonEmbedded) })
	}
	if err == nil {
		b.con.Say("%s is knowledge base %s: %s%s", path, name, view.Counted(rep.Added+rep.Updated+rep.Unchanged, "document"),
			skippedNote(rep, path))
	}
	return name, err
}

// Find returns the knowledge base that a value of --kb means, without indexing anything. path is the directory or file
// to index; it is empty for an existing knowledge base. If a name matches both, the knowledge base wins, unless the
// value is written as a path.
func (b *Bases) Find(ctx context.Context, value string) (name, path string, err error) {
	if value == "" {
		return "", "", nil
	}
	_, statErr := os.Stat(value)
	looksLikePath := strings.ContainsRune(value, filepath.Separator) || value == "." || value == ".."
	if !looksLikePath {
		names, err := b.Names(ctx)
		if err != nil {
			return "", "", err
		}
		if slices.Contains(names, value) {
			return value, "", b.check(ctx, value)
		}
	}
	if statErr != nil {
		if looksLikePath {
			return "", "", view.Usage(fmt.Errorf("knowledge base: %w", statErr))
		}
		return "", "", b.Exists(ctx, value)
	}
	return knowledge.Name(value), value, nil
}

func skippedNote(rep knowledge.Report, path string) string {
	if len(rep.Skipped) == 0 {
		return ""
	}
	return fmt.Sprintf(", %s skipped (`nightdesk kb add %s` says why)", view.Counted(len(rep.Skipped), "file"), path)
}

// PublishAll indexes the batch's knowledge base if it is a directory. It then publishes the knowledge bases that
// topics use to storage.
func (b *Bases) PublishAll(ctx context.Context, kb string, list *intake.List) error {
	if _, err := b.Resolve(ctx, kb); err != nil {
		return err
	}
	versions := map[string]string{}
	for i := range list.Options {
		o := &list.Options[i]
		version, ok := versions[o.KnowledgeBase]
		if !ok {
			var err error
			if version, err = b.Publish(ctx, o.KnowledgeBase); err != nil {
				return err
			}
			versions[o.KnowledgeBase] = version
		}
		o.KnowledgeVersion = version
	}
	return nil
}

// Share publishes a knowledge base for other machines, if they share the storage: that in the data directory has it.
func (b *Bases) Share(ctx context.Context, name string) error {
	if b.cfg.StorageURL == (config.URL{}) {
		return nil
	}
	if _, err := b.Publish(ctx, name); err != nil {
		return view.Hint(err, "It is indexed on this machine. For the others, repeat the command when the storage is there.")
	}
	return nil
}

// Publish copies the current knowledge base to storage, from where workers on any machine fetch it. It returns the
// version for the runs to use, so that later changes do not affect them.
func (b *Bases) Publish(ctx context.Context, kb string) (version string, err error) {
	if kb == "" {
		return "", nil
	}
	store, err := wiring.OpenWritableStore(ctx, b.cfg, b.con)
	if err != nil {
		return "", err
	}
	err = b.With(ctx, kb, func(base *knowledge.Base) error {
		version, err = knowledge.Publish(ctx, base, store)
		return err
	})
	return version, err
}

// BaseList is the knowledge bases of a machine.
type BaseList struct {
	Bases  []knowledge.Info `json:"knowledge_bases"`
	Broken []string         `json:"broken,omitempty" jsonschema:"those that cannot be read, and why"`
}

// List describes all knowledge bases.
func (b *Bases) List(ctx context.Context) (BaseList, error) {
	list := BaseList{Bases: []knowledge.Info{}}
	names, err := b.Names(ctx)
	if err != nil {
		return list, err
	}
	for _, name := range names {
		info, err := b.Info(ctx, name)
		switch {
		case ctx.Err() != nil:
			return list, context.Cause(ctx)
		case err != nil:
			list.Broken = append(list.Broken, fmt.Sprintf("knowledge base %s cannot be read: %v; `nightdesk kb remove %s` "+
				"removes it", name, err, name))
		default:
			list.Bases = append(list.Bases, info)
		}
	}
	return list, nil
}

// Info describes a knowledge base.
func (b *Bases) Info(ctx context.Context, name string) (info knowledge.Info, err error) {
	err = b.With(ctx, name, func(base *knowledge.Base) error {
		info, err = base.Info(ctx)
		return err
	})
	info.Name = name
	return info, err
}

// Documents lists the documents of a knowledge base.
func (b *Bases) Documents(ctx context.Context, name string) (documents []knowledge.Document, err error) {
	err = b.With(ctx, name, func(base *knowledge.Base) error {
		documents, err = base.Documents(ctx)
		return err
	})
	return documents, err
}

// Remove deletes a knowledge base from this machine and its name from the storage. Versions that runs use stay there.
func (b *Bases) Remove(ctx context.Context, name string) error {
	if err := b.Exists(ctx, name); err != nil {
		return err
	}
	store, err := wiring.OpenStore(ctx, b.cfg)
	b.names = nil
	if err == nil {
		err = knowledge.Withdraw(ctx, store, name)
	}
	if err != nil {
		return fmt.Errorf("remove knowledge base %s: %w", name, err)
	}
	if err := knowledge.Remove(b.Dir, name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Search finds passages in a knowledge base. The mode is hybrid, naive or item.
func (b *Bases) Search(ctx context.Context, name, query, mode string, limit int) (found knowledge.Answer, err error) {
	how, known := map[string]knowledge.Mode{"hybrid": knowledge.Hybrid, "naive": knowledge.Naive}[mode]
	if !known && mode != "item" {
		return found, view.Usage(fmt.Errorf("mode %q is unknown: use hybrid, naive or item", mode))
	}
	embedder, err := wiring.NewEmbedder(b.cfg, nil)
	if err != nil {
		return found, err
	}
	err = b.With(ctx, name, func(base *knowledge.Base) error {
		if embedder != nil {
			base.SetEmbedder(embedder)
		}
		if known {
			found, err = base.Find(ctx, query, limit, how)
		} else {
			found.Passages, err = base.Item(ctx, query, limit)
		}
		return err
	})
	return found, err
}
