package web

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"nightdesk/pipeline/narration"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// audio is the audio version of a report.
type audio struct {
	URL, Name, Transcript string
	Cues                  []cueLine
}

// cueLine is one entry of the transcript. At: start time for display; URL: the audio from that time on.
type cueLine struct{ At, URL, Speaker, Text string }

// audio returns the audio section of a run's page, or nil if the run has no narration.
func (s *site) audio(ctx context.Context, n topicqueue.Narration) (*audio, error) {
	if n.File == "" {
		return nil, nil
	}
	a := &audio{URL: "../a/" + n.File, Name: strings.ToUpper(strings.TrimPrefix(path.Ext(n.File), ".")),
		Transcript: "../a/" + n.Transcript}
	body, err := s.Store.Get(ctx, n.Transcript)
	if errors.Is(err, storage.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	for _, c := range narration.ReadTranscript(body) {
		seconds := int(c.Start / time.Second)
		a.Cues = append(a.Cues, cueLine{fmt.Sprintf("%d:%02d", seconds/60, seconds%60),
			fmt.Sprintf("%s#t=%.1f", a.URL, c.Start.Seconds()), c.Speaker, c.Text})
	}
	return a, nil
}
