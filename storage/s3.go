package storage

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// S3Settings holds the location of a bucket and the credentials to use.
type S3Settings struct {
	Bucket   string
	Prefix   string // folder in the bucket, without leading or trailing slash; empty: the whole bucket
	Endpoint string // http(s)://host:port of a server other than Amazon's; empty: AWS_ENDPOINT_URL_S3, else Amazon
	Region   string // empty: AWS_REGION, else the profile's region, else us-east-1
	// Names of the settings with the endpoint and the region, for messages; empty: those of AWS.
	EndpointName, RegionName string

	AccessKey string // empty: the usual sources of AWS credentials (environment, profile, container, machine)
	SecretKey string // required with AccessKey
}

// S3 keeps artefacts as objects in a bucket on Amazon S3 or a compatible server.
//
// Requests are retried with growing pauses when the network or the server fails. There are at most 6 attempts, with
// pauses of 30 s in total. Each attempt may take 30 s plus the time that its bytes need at 64 KiB/s. The end of the
// context stops all attempts.
//
// Every object carries its SHA-256 as metadata, which Get verifies. The credentials need permission to get, put and
// list objects.
type S3 struct {
	client           *s3.Client
	bucket, prefix   string // prefix: empty or with a trailing slash
	host             string // host of the endpoint, for messages
	endpoint, region string // names of their settings, for messages
	credentials      *watchedCredentials
	retryer          aws.Retryer
	pace             pace
}

var _ Store = (*S3)(nil)

// NewS3 returns a store in the given bucket. It checks the settings but does not contact the server; use Check for
// that.
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
	s := &S3{bucket: settings.Bucket, retryer: newRetryer(p), pace: p,
		endpoint: cmp.Or(settings.EndpointName, "AWS_ENDPOINT_URL_S3"), region: cmp.Or(settings.RegionName, "AWS_REGION")}
	if settings.Prefix != "" {
		s.prefix = settings.Prefix + "/"
	}
	s.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		if settings.Region != "" {
			o.Region = settings.Region
		}
		if o.Region == "" {
			o.Region = "us-east-1" // some servers reject "auto", and the signature needs a region
		}
		if settings.Endpoint != "" {
			o.BaseEndpoint = aws.String(settings.Endpoint)
		}
		s.host = "s3." + o.Region + ".amazonaws.com"
		if o.BaseEndpoint != nil {
			o.UsePathStyle = true // such servers seldom have a DNS name per bucket
			err = s.setEndpoint(*o.BaseEndpoint)
		}
		// The other mode sends checksums as trailers in the body, which some servers store as data.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
		s.credentials = &watchedCredentials{provider: o.Credentials}
		o.Credentials = s.credentials
		// Wrapped here because LoadDefaultConfig rejects a client whose CA bundle it cannot set from the environment.
		o.HTTPClient = patientClient{next: o.HTTPClient, pace: p}
		o.Retryer = s.retryer
		o.Logger = logging.Nop{} // errors are returned instead
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// impatient returns the store with one retry, so that errors come soon.
func (s *S3) impatient() *S3 {
	soon := *s
	soon.client = s3.New(s.client.Options(), func(o *s3.Options) { o.RetryMaxAttempts = 2 })
	return &soon
}

// Location returns the address of the object: s3://bucket/prefix/key.
func (s *S3) Location(key string) string { return "s3://" + s.bucket + "/" + s.prefix + key }

// Exists reports whether there is an object.
func (s *S3) Exists(ctx context.Context, key string) (bool, error) {
	err := usable(ctx, key)
	there := false
	if err == nil {
		there, err = s.look(ctx, s.key(key))
	}
	return there, s.failed(ctx, "look for", key, err)
}

// look requests the first byte instead of sending HEAD. A HEAD response has no body, so its 404 would not say whether
// the key, the bucket or, with versitygw, the user is missing.
func (s *S3) look(ctx context.Context, key *string) (bool, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: key, Range: aws.String("bytes=0-0")})
	switch {
	case err == nil:
		return true, out.Body.Close()
	case code(err) == "NoSuchKey":
		return false, nil
	case status(err) == http.StatusRequestedRangeNotSatisfiable: // the object is empty
		return true, nil
	}
	return false, err
}

// Delete removes the object. A versioned bucket keeps the old versions.
func (s *S3) Delete(ctx context.Context, key string) error {
	if err := usable(ctx, key); err != nil {
		return s.failed(ctx, "delete", key, err)
	}
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.key(key)})
	return s.failed(ctx, "delete", key, err)
}

// List requests the keys, 1,000 at a time.
func (s *S3) List(ctx context.Context, prefix string) ([]string, error) {
	list, err := s.ListStats(ctx, prefix)
	var keys []string
	for _, l := range list {
		keys = append(keys, l.Key)
	}
	return keys, err
}

// ListStats is List with sizes and times, which a bucket listing includes.
func (s *S3) ListStats(ctx context.Context, prefix string) ([]Listed, error) {
	var list []Listed
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: s.key(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, s.failed(ctx, "list", prefix, err)
		}
		for _, o := range page.Contents {
			key := strings.TrimPrefix(aws.ToString(o.Key), s.prefix)
			if checkKey(key) == nil { // folder objects of other programs have keys with a trailing slash
				list = append(list, Listed{key, Stat{aws.ToInt64(o.Size), aws.ToTime(o.LastModified)}})
			}
		}
	}
	// servers differ in the order
	slices.SortFunc(list, func(a, b Listed) int { return strings.Compare(a.Key, b.Key) })
	return list, nil
}

// key returns the object's key in the bucket.
func (s *S3) key(key string) *string { return aws.String(s.prefix + key) }
