package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nightdesk/pipeline/knowledge"
)

func (a *app) knowledgeDir() string { return filepath.Join(a.cfg.DataDir, "knowledge") }

// openBase opens a knowledge base that exists.
func (a *app) openBase(name string) (*knowledge.Base, error) {
	path, err := knowledge.Path(a.knowledgeDir(), name)
	if err != nil {
		return nil, usageError{err}
	}
	return knowledge.Open(path)
}

// kbExists returns an error that lists the knowledge bases when there is none with this name.
func (a *app) kbExists(name string) error {
	names, err := knowledge.List(a.knowledgeDir())
	if err != nil {
		return err
	}
	if slices.Contains(names, name) {
		return nil
	}
	hint := "There is none yet; make one with `nightdesk kb add --name NAME DIR`."
	if len(names) > 0 {
		hint = "There are: " + strings.Join(names, ", ")
	}
	return usageError{hintError{fmt.Errorf("there is no knowledge base and no directory %q", name), hint}}
}

// withBase opens a knowledge base that must exist.
func (a *app) withBase(name string, do func(*knowledge.Base) error) error {
	if err := a.kbExists(name); err != nil {
		return err
	}
	base, err := a.openBase(name)
	if err != nil {
		return err
	}
	return errors.Join(do(base), base.Close())
}

// checkBase finds out before any work whether a knowledge base can be searched.
func (a *app) checkBase(ctx context.Context, name string) error {
	return a.withBase(name, func(b *knowledge.Base) error {
		info, err := b.Info(ctx)
		if err == nil && info.Passages == 0 {
			err = hintError{fmt.Errorf("knowledge base %s is empty", name), "Fill it with `nightdesk kb add --name " +
				name + " DIR`."}
		}
		return err
	})
}

// knowledgeBase resolves the value of --kb: the name of a knowledge base, or a directory or file, which is indexed on
// the way.
func (a *app) knowledgeBase(ctx context.Context, value string) (string, error) {
	name, path, err := a.findBase(ctx, value)
	if err != nil || path == "" {
		return name, err
	}
	rep, err := a.ingest(ctx, name, []string{path}, false)
	if err == nil {
		a.say("%s is knowledge base %s: %s%s", path, name, counted(rep.Added+rep.Updated+rep.Unchanged, "document"),
			skippedNote(rep, path))
	}
	return name, err
}

// findBase says which knowledge base a value of --kb means, without indexing anything. path: what is to be indexed,
// empty for one that is there. A name that is both is the knowledge base, unless it is written like a path.
func (a *app) findBase(ctx context.Context, value string) (name, path string, err error) {
	if value == "" {
		return "", "", nil
	}
	_, statErr := os.Stat(value)
	looksLikePath := strings.ContainsRune(value, filepath.Separator) || value == "." || value == ".."
	if !looksLikePath {
		names, err := knowledge.List(a.knowledgeDir())
		if err != nil {
			return "", "", err
		}
		if slices.Contains(names, value) {
			return value, "", a.checkBase(ctx, value)
		}
	}
	if statErr != nil {
		if looksLikePath {
			return "", "", usageError{fmt.Errorf("knowledge base: %w", statErr)}
		}
		return "", "", a.kbExists(value)
	}
	return knowledge.Name(value), value, nil
}

func skippedNote(rep knowledge.Report, path string) string {
	if len(rep.Skipped) == 0 {
		return ""
	}
	return fmt.Sprintf(", %s skipped (`nightdesk kb add %s` says why)", counted(len(rep.Skipped), "file"), path)
}

// publishBases indexes the knowledge base of the batch, when it is a directory, and puts those that topics use into the
// storage as they are now.
func (a *app) publishBases(ctx context.Context, list *topicList) error {
	if _, err := a.knowledgeBase(ctx, a.cfg.KBName); err != nil {
		return err
	}
	versions := map[string]string{}
	for i := range list.options {
		o := &list.options[i]
		version, ok := versions[o.KnowledgeBase]
		if !ok {
			var err error
			if version, err = a.publish(ctx, o.KnowledgeBase); err != nil {
				return err
			}
			versions[o.KnowledgeBase] = version
		}
		o.KnowledgeVersion = version
	}
	return nil
}

// publish puts the knowledge base as it is now into the storage, from where workers on any machine fetch it, and
// returns the version that the runs are to use, whatever becomes of the base meanwhile.
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
