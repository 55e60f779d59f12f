package health

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/jobs/tracing"
	"nightdesk/pipeline/knowledge/e5"
	"nightdesk/pipeline/narration"
	"nightdesk/pipeline/reporting/formats/pdf"
	"nightdesk/topicqueue"
)

// prompts lists the prompt templates that prompts.dir replaces.
func (c Checker) prompts(_ context.Context, r report) error {
	own, err := wiring.OwnPrompts(c.Config)
	switch {
	case err != nil, own == nil:
		return err
	case len(own.Files()) == 0:
		r.note("`nightdesk prompts` lists the names that templates can have.", "prompts.dir %s has no template",
			c.Config.PromptsDir)
	default:
		r.ok("%s replaced by prompts.dir: %s (%s)", view.Counted(len(own.Files()), "template"),
			strings.Join(own.Files(), ", "), own.Hash())
	}
	return nil
}

func (c Checker) knowledge(ctx context.Context, r report) error {
	list, err := bases.New(c.Config, c.Console).List(ctx)
	for _, broken := range list.Broken {
		r.failed("Index its documents again.", "%s", broken)
	}
	if err == nil && len(list.Bases)+len(list.Broken) == 0 {
		r.note("Make one with `nightdesk kb add --name NAME DIR`, or give --kb DIR to `run`.",
			"there is no knowledge base yet")
	} else if err == nil {
		r.ok("%s in %s", view.Counted(len(list.Bases), "knowledge base"), wiring.KnowledgeDir(c.Config))
	}
	return err
}

// embedding does not call the embedding server, and does not fetch the built-in model.
func (c Checker) embedding(_ context.Context, r report) error {
	if c.Config.Embedding.Enabled() {
		_, err := wiring.NewEmbedder(c.Config, nil)
		return err
	}
	file := wiring.MeaningFile(c.Config)
	_, err := os.Stat(file)
	switch {
	case c.Config.Embedding.Model == config.NoModel:
		r.note("Unset EMBEDDING_MODEL to search by meaning too.", "knowledge bases are searched by words")
	case errors.Is(err, fs.ErrNotExist):
		r.note(fmt.Sprintf("The next `nightdesk kb add` fetches it once, %d MB. On a machine without internet access, "+
			"copy it from another one.", e5.Weights.Compressed>>20), "%s, the model of the search by meaning, is not there "+
			"yet: knowledge bases are searched by words", file)
	case err != nil:
		return err
	default:
		r.ok("knowledge bases are searched by words and by meaning")
	}
	return nil
}

// pdf finds the program that prints reports as PDF.
func (c Checker) pdf(_ context.Context, r report) error {
	printer, err := pdf.Find()
	if err != nil {
		r.note("Install one of them, for example: apt-get install chromium", "%v", err)
		return nil
	}
	r.ok("reports are printed with %s", printer.Program)
	return nil
}

// speech reports the speech engine and the audio format. It does not speak anything, because that may cost money.
func (c Checker) speech(_ context.Context, r report) error {
	speaker, err := wiring.NewSpeech(c.Config, nil)
	if err != nil {
		r.note("For example: apt-get install espeak-ng", "%v. Reports are not read aloud (--audio).", err)
		return nil
	}
	text := "reports are read aloud by " + speaker.Name()
	if c.Config.Speech.Enabled() {
		text += " of " + c.Config.Speech.Host()
	}
	if encoder, ok := narration.FindEncoder(); ok {
		r.ok("%s; their files are made by %s (%s)", text, filepath.Base(encoder.Program), encoder.Format)
	} else {
		r.ok("%s; their files are WAV, which is large", text).Hint =
			"For MP3 files install lame or ffmpeg, for Opus files opus-tools."
	}
	return nil
}

// tracing checks whether the collector accepts traces.
func (c Checker) tracing(ctx context.Context, r report) error {
	endpoint, err := tracing.Endpoint()
	if err == nil && endpoint == "" {
		return nil
	}
	if err == nil {
		err = tracing.Check(ctx)
	}
	if err != nil {
		r.failed("Runs continue without traces. Correct OTEL_EXPORTER_OTLP_ENDPOINT, or set OTEL_SDK_DISABLED=true.", "%s",
			topicqueue.Clip(topicqueue.OneLine(err.Error()), 200))
	} else {
		r.ok("traces are sent to %s", endpoint)
	}
	return nil
}

// mail checks whether the mail server accepts digests.
func (c Checker) mail(ctx context.Context, r report) error {
	mail, err := wiring.NewMail(c.Config.Mail)
	if err != nil || mail == nil {
		return err
	}
	if err := mail.Check(ctx); err != nil {
		return view.Hint(err, "Correct mail.server, mail.from or mail.to. Percent-encode reserved characters in "+
			"user and password (@ is %40).")
	}
	r.ok("%s takes mail from %s to %s", mail.Host(), c.Config.Mail.From, c.Config.Mail.To)
	return nil
}

// unsent reports events and digests that were not delivered.
func (c Checker) unsent(_ context.Context, r report) error {
	webhooks, err := wiring.NewWebhooks(c.Config.Webhook)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		defer w.Close()
	}
	unsent, err := tasks.UnsentEvents(c.Desk.Redis)
	for _, u := range unsent {
		i := slices.IndexFunc(webhooks, func(w *notify.Webhook) bool { return w.Key() == u.Webhook })
		until := fmt.Sprintf("until then they wait in the queue %s.", u.Queue)
		switch {
		case u.Webhook == "" && (len(webhooks) > 0 || c.Config.Mail.Server.Reveal() != ""):
			undelivered(r.named("mail"), u, "digest", "")
		case i >= 0:
			undelivered(r, u, "event", " for "+webhooks[i].Host())
		case u.Waiting == 0: // given up, and the receiver is no longer configured
		case u.Webhook == "":
			r.named("mail").note("Set mail.server to send them; "+until, "%s waiting to be sent, but mail.server is not set",
				view.Counted(u.Waiting, "digest"))
		default:
			r.note("Add the address to webhook.url to send them; "+until, "%s for an address that is not in webhook.url",
				view.Counted(u.Waiting, "event"))
		}
	}
	return err
}

// undelivered reports the delivery failures for one receiver.
func undelivered(r report, u tasks.Unsent, thing, to string) {
	if u.Failed > 0 {
		r.note("Workers retry for nearly 18 hours. To send them now: `nightdesk retry --notifications` (queue "+u.Queue+").",
			"%s%s to be sent again: %s", view.Counted(u.Failed, thing), to, u.Error)
	}
	if u.GivenUp > 0 {
		r.note("When the receiver is back, send them with `nightdesk retry --notifications` (archived in queue "+u.Queue+
			").", "%s%s given up: %s", view.Counted(u.GivenUp, thing), to, u.Error)
	}
}
