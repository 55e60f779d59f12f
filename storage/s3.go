package storage

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// S3Settings say where a bucket is and who asks for it.
type S3Settings struct {
	Bucket    string
	Prefix    string // folder in the bucket, without slashes at its ends; empty: the whole bucket
	Endpoint  string // http(s)://host:port of a server other than Amazon's; empty: AWS_ENDPOINT_URL_S3, else Amazon
	Public    string // the same as browsers know it, for links; empty: Endpoint
	Region    string // empty: AWS_REGION or the profile's, else us-east-1
	AccessKey string // empty: the usual sources of AWS credentials: environment, profile, container, machine
	SecretKey string // goes with AccessKey
}

// S3 keeps artefacts as objects of a bucket on Amazon S3 or a server that speaks its protocol.
//
// Requests are tried again, with growing pauses, when the network or the server fails: at most 6 attempts, with pauses
// of 30 s together; each attempt may take 30 s and the time that its bytes need at 64 KiB/s; the context ends all of
// it. Every object carries its SHA-256 as metadata, which Get verifies. The credentials need the rights to get, put
// and list objects and to abort multipart uploads. What a killed process leaves of an upload in parts is invisible; a
// bucket's rule "abort incomplete multipart uploads" removes it.
type S3 struct {
	client         *s3.Client
	links          *s3.Client // that signs links
	bucket, prefix string     // prefix: empty or with a slash at its end
	host           string     // of the endpoint, for messages
	credentials    *watchedCredentials
	retryer        retryer
	pace           pace
}

var (
	_ Store      = (*S3)(nil)
	_ StatLister = (*S3)(nil)
	_ Linker     = (*S3)(nil)
)

// NewS3 returns the store in this bucket. It checks the settings but calls nobody: Check does.
func NewS3(ctx context.Context, settings S3Settings) (*S3, error) {
	return newS3(ctx, settings, usualPace)
}

func newS3(ctx context.Context, settings S3Settings, p pace) (*S3, error) {
	if err := settings.check(); err != nil {
		return nil, err
	}
	var options []func(*config.LoadOptions) error
	if settings.AccessKey != "" {
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(settings.AccessKey,
			settings.SecretKey, "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("read the AWS settings for s3://%s: %w: correct the AWS_* variables or the AWS "+
			"configuration file", settings.Bucket, err)
	}
	s := &S3{bucket: settings.Bucket, retryer: newRetryer(p), pace: p}
	if settings.Prefix != "" {
		s.prefix = settings.Prefix + "/"
	}
	s.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		if settings.Region != "" {
			o.Region = settings.Region
		}
		if o.Region == "" {
			o.Region = "us-east-1" // some servers refuse "auto", and one must be signed for
		}
		if settings.Endpoint != "" {
			o.BaseEndpoint = aws.String(settings.Endpoint)
		}
		s.host = "s3." + o.Region + ".amazonaws.com"
		if o.BaseEndpoint != nil {
			o.UsePathStyle = true // such servers seldom have a DNS name per bucket
			s.host = hostOf(*o.BaseEndpoint)
		}
		// The other mode sends checksums as trailers inside the body, which some servers store as if they were data.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
		s.credentials = &watchedCredentials{provider: o.Credentials}
		o.Credentials = s.credentials
		// Wrapped here: LoadDefaultConfig refuses a client that it cannot teach the CA bundle of the environment.
		o.HTTPClient = patientClient{next: o.HTTPClient, pace: p}
		o.Retryer = s.retryer
		o.Logger = logging.Nop{} // errors are returned
	})
	s.links = s.client
	if settings.Public != "" {
		o := s.client.Options()
		o.BaseEndpoint, o.UsePathStyle = aws.String(settings.Public), true
		s.links = s3.New(o)
	}
	return s, nil
}

// Location returns the object's address: s3://bucket/prefix/key.
func (s *S3) Location(key string) string { return "s3://" + s.bucket + "/" + s.prefix + key }

// Exists asks for the first byte. The answer to a HEAD has no body, and its 404 would not say whether the key, the
// bucket or, with versitygw, the user does not exist.
func (s *S3) Exists(ctx context.Context, key string) (bool, error) {
	ctx = withRecord(ctx)
	if err := usable(ctx, key); err != nil {
		return false, s.failed(ctx, "look for", key, err)
	}
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(key),
		Range: aws.String("bytes=0-0")})
	switch {
	case code(err) == "NoSuchKey":
		return false, nil
	case status(err) == http.StatusRequestedRangeNotSatisfiable: // it has no first byte
		return true, nil
	case err != nil:
		return false, s.failed(ctx, "look for", key, err)
	}
	out.Body.Close()
	return true, nil
}

// Stat asks for the first byte, as Exists does.
func (s *S3) Stat(ctx context.Context, key string) (Stat, error) {
	ctx = withRecord(ctx)
	if err := usable(ctx, key); err != nil {
		return Stat{}, s.failed(ctx, "look at", key, err)
	}
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(key),
		Range: aws.String("bytes=0-0")})
	if code(err) == "NoSuchKey" {
		err = ErrNotExist
	}
	if err != nil {
		return Stat{}, s.failed(ctx, "look at", key, err)
	}
	out.Body.Close()
	stat := Stat{Size: aws.ToInt64(out.ContentLength), Stored: aws.ToTime(out.LastModified)}
	if _, whole, ok := strings.Cut(aws.ToString(out.ContentRange), "/"); ok {
		if size, err := strconv.ParseInt(whole, 10, 64); err == nil {
			stat.Size = size
		}
	}
	return stat, nil
}

// Delete removes the object. A bucket with versions keeps the old ones.
func (s *S3) Delete(ctx context.Context, key string) error {
	ctx = withRecord(ctx)
	if err := usable(ctx, key); err != nil {
		return s.failed(ctx, "delete", key, err)
	}
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.key(key)})
	return s.failed(ctx, "delete", key, err)
}

// List asks for the keys, a thousand at a time.
func (s *S3) List(ctx context.Context, prefix string) ([]string, error) {
	list, err := s.ListStats(ctx, prefix)
	var keys []string
	for _, l := range list {
		keys = append(keys, l.Key)
	}
	return keys, err
}

// ListStats is List: a bucket's listing has sizes and times.
func (s *S3) ListStats(ctx context.Context, prefix string) ([]Listed, error) {
	ctx = withRecord(ctx)
	var list []Listed
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: s.key(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, s.failed(ctx, "list", prefix, err)
		}
		for _, o := range page.Contents {
			key := strings.TrimPrefix(aws.ToString(o.Key), s.prefix)
			if checkKey(key) == nil { // folders that other programs make have keys that end in a slash
				list = append(list, Listed{key, Stat{aws.ToInt64(o.Size), aws.ToTime(o.LastModified)}})
			}
		}
	}
	// servers are not agreed on the order
	slices.SortFunc(list, func(a, b Listed) int { return strings.Compare(a.Key, b.Key) })
	return list, nil
}

// Link signs a URL; nobody is asked.
func (s *S3) Link(ctx context.Context, key string, lifetime time.Duration) (string, error) {
	const longest = 7 * 24 * time.Hour // of the signature's protocol
	if lifetime < time.Second || lifetime > longest {
		return "", fmt.Errorf("link to %s: a lifetime of %s is not between one second and seven days", key, lifetime)
	}
	if err := usable(ctx, key); err != nil {
		return "", s.failed(ctx, "link to", key, err)
	}
	req, err := s3.NewPresignClient(s.links, s3.WithPresignExpires(lifetime)).PresignGetObject(ctx,
		&s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(key)})
	if err != nil {
		return "", s.failed(ctx, "link to", key, err)
	}
	return req.URL, nil
}

// key returns the object's key in the bucket.
func (s *S3) key(key string) *string { return aws.String(s.prefix + key) }
