package sources

import (
	"cmp"
	"slices"
	"strings"
)

// listed are well-known hosts by genre. A host includes its subdomains; with a path, it includes only what is below the
// path.
const listed = `
paper: nature.com science.org sciencedirect.com link.springer.com springer.com springeropen.com biomedcentral.com
	onlinelibrary.wiley.com tandfonline.com journals.sagepub.com academic.oup.com cambridge.org/core dl.acm.org
	ieeexplore.ieee.org journals.plos.org plos.org frontiersin.org mdpi.com hindawi.com pnas.org cell.com thelancet.com
	bmj.com nejm.org jamanetwork.com pubmed.ncbi.nlm.nih.gov pmc.ncbi.nlm.nih.gov ncbi.nlm.nih.gov/pmc
	ncbi.nlm.nih.gov/pubmed europepmc.org jstor.org doi.org dx.doi.org semanticscholar.org aclanthology.org
	openreview.net proceedings.mlr.press proceedings.neurips.cc papers.nips.cc openaccess.thecvf.com
	usenix.org/conference usenix.org/system/files vldb.org/pvldb iopscience.iop.org pubs.acs.org pubs.rsc.org
	journals.aps.org aip.scitation.org pubs.aip.org elifesciences.org royalsocietypublishing.org annualreviews.org
	jmlr.org distill.pub hal.science archives-ouvertes.fr cyberleninka.ru scielo.org scielo.br core.ac.uk
	researchgate.net academia.edu openalex.org dblp.org jmir.org ahajournals.org asmjournals.org journals.ametsoc.org
	agupubs.onlinelibrary.wiley.com cnki.net karger.com
preprint: arxiv.org biorxiv.org medrxiv.org chemrxiv.org ssrn.com papers.ssrn.com osf.io/preprints psyarxiv.com
	researchsquare.com preprints.org eprint.iacr.org techrxiv.org essopenarchive.org hal.science/hal alphaxiv.org
	ar5iv.labs.arxiv.org
documentation: readthedocs.io readthedocs.org docs.rs pkg.go.dev go.dev/doc go.dev/ref developer.mozilla.org
	learn.microsoft.com docs.python.org cppreference.com kubernetes.io/docs postgresql.org/docs redis.io/docs
	redis.io/commands nginx.org/en/docs man7.org linux.die.net kernel.org/doc docs.kernel.org doc.rust-lang.org
	devdocs.io w3schools.com gitbook.io hexdocs.pm rubydoc.info javadoc.io perldoc.perl.org php.net/manual sqlite.org
	mongodb.com/docs cloud.google.com/docs docs.aws.amazon.com docs.github.com docs.docker.com react.dev vuejs.org
	angular.dev developer.apple.com developer.android.com api.rubyonrails.org wiki.archlinux.org manpages.debian.org
	gnu.org/software opentelemetry.io/docs grafana.com/docs elastic.co/guide dev.mysql.com/doc mariadb.com/kb
	pytorch.org/docs tensorflow.org/api_docs numpy.org/doc scikit-learn.org huggingface.co/docs platform.openai.com/docs
	ai.google.dev docs.oracle.com ibm.com/docs ffmpeg.org cmake.org/cmake/help terraform.io/docs
	datatracker.ietf.org/doc/html
reference: wikipedia.org wiktionary.org wikiquote.org wikisource.org wikidata.org wikimedia.org wikibooks.org
	britannica.com merriam-webster.com dictionary.com dictionary.cambridge.org oxfordreference.com plato.stanford.edu
	iep.utm.edu scholarpedia.org mathworld.wolfram.com encyclopedia.com investopedia.com fandom.com baike.baidu.com
	zhwiki.org duden.de rfc-editor.org iso.org datatracker.ietf.org w3.org/tr ietf.org/rfc whatwg.org unicode.org
	tools.ietf.org ecma-international.org nlab.org ncatlab.org medlineplus.gov healthline.com mayoclinic.org webmd.com
	etymonline.com newworldencyclopedia.org baike.sogou.com treccani.it
news: reuters.com apnews.com bbc.com bbc.co.uk nytimes.com washingtonpost.com wsj.com ft.com economist.com
	bloomberg.com theguardian.com cnn.com edition.cnn.com cnbc.com nbcnews.com cbsnews.com abcnews.go.com foxnews.com
	npr.org politico.com politico.eu axios.com aljazeera.com dw.com spiegel.de zeit.de faz.net sueddeutsche.de
	tagesschau.de welt.de handelsblatt.com heise.de golem.de lemonde.fr lefigaro.fr liberation.fr france24.com elpais.com
	elmundo.es repubblica.it corriere.it nzz.ch srf.ch derstandard.at orf.at asahi.com nikkei.com japantimes.co.jp
	scmp.com xinhuanet.com news.cn people.com.cn chinadaily.com.cn caixin.com thepaper.cn thehindu.com
	timesofindia.indiatimes.com indianexpress.com theverge.com arstechnica.com wired.com techcrunch.com theregister.com
	zdnet.com engadget.com cnet.com venturebeat.com technologyreview.com newscientist.com scientificamerican.com
	quantamagazine.org phys.org sciencenews.org eurekalert.org forbes.com businessinsider.com fortune.com time.com
	theatlantic.com newyorker.com latimes.com usatoday.com independent.co.uk telegraph.co.uk thetimes.co.uk thetimes.com
	sky.com news.sky.com euronews.com cbc.ca theglobeandmail.com abc.net.au smh.com.au nzherald.co.nz straitstimes.com
	koreaherald.com haaretz.com marketwatch.com seekingalpha.com prnewswire.com businesswire.com globenewswire.com
	lwn.net phoronix.com infoq.com thenewstack.io statnews.com finance.yahoo.com news.yahoo.com msn.com vox.com
	propublica.org semafor.com 36kr.com nature.com/articles/d41586 science.org/content/article
forum: stackoverflow.com stackexchange.com superuser.com serverfault.com askubuntu.com mathoverflow.net reddit.com
	news.ycombinator.com quora.com zhihu.com lobste.rs discuss.python.org groups.google.com lists.apache.org
	mail-archive.com github.com/orgs lkml.org lore.kernel.org tieba.baidu.com v2ex.com gutefrage.net
	hardwareluxx.de/community slashdot.org security.stackexchange.com segmentfault.com community.openai.com
	metafilter.com
blog: medium.com substack.com wordpress.com blogspot.com dev.to hashnode.dev ghost.io tumblr.com
	towardsdatascience.com simonwillison.net martinfowler.com joelonsoftware.com danluu.com jepsen.io/analyses
	blog.google ai.googleblog.com openai.com/blog aws.amazon.com/blogs cloudflare.com/blog netflixtechblog.com
	lesswrong.com juejin.cn csdn.net cnblogs.com jianshu.com note.com qiita.com zenn.dev habr.com hackernoon.com
	freecodecamp.org/news dzone.com highscalability.com kdnuggets.com lilianweng.github.io go.dev/blog kubernetes.io/blog
government: whitehouse.gov europa.eu bund.de admin.ch canada.ca gov.uk un.org/sg congress.gov parliament.uk
	bundestag.de bundesregierung.de bundesbank.de destatis.de service-public.fr elysee.fr legifrance.gouv.fr insee.fr
	government.nl regeringen.se bankofengland.co.uk federalreserve.gov stlouisfed.org newyorkfed.org boj.or.jp
	rijksoverheid.nl umweltbundesamt.de bsi.bund.de stats.gov.cn berlin.de hamburg.de nyc.gov bundesnetzagentur.de
organisation: who.int un.org imf.org worldbank.org oecd.org iea.org wto.org irena.org ipcc.ch iaea.org unesco.org
	unicef.org itu.int ilo.org weforum.org greenpeace.org wwf.org amnesty.org hrw.org redcross.org ieee.org acm.org
	w3.org ietf.org apache.org linuxfoundation.org mozilla.org eff.org pewresearch.org brookings.edu rand.org cern.ch
	home.cern max-planck.de mpg.de fraunhofer.de mit.edu stanford.edu ox.ac.uk ethz.ch cncf.io cfr.org chathamhouse.org
repository: github.com gitlab.com bitbucket.org codeberg.org sourceforge.net sr.ht pypi.org npmjs.com crates.io
	rubygems.org packagist.org mvnrepository.com search.maven.org central.sonatype.com hub.docker.com nuget.org
	hackage.haskell.org metacpan.org cran.r-project.org raw.githubusercontent.com gist.github.com gitee.com
	huggingface.co packages.debian.org launchpad.net git.kernel.org android.googlesource.com
dataset: kaggle.com data.gov data.gov.uk data.europa.eu zenodo.org figshare.com datadryad.org dataverse.harvard.edu
	huggingface.co/datasets archive.ics.uci.edu ourworldindata.org/grapher data.worldbank.org fred.stlouisfed.org
	statista.com ec.europa.eu/eurostat data.un.org data.oecd.org stats.oecd.org data.census.gov opendatasoft.com
	openml.org registry.opendata.aws gbif.org earthdata.nasa.gov pangaea.de govdata.de data.gouv.fr dati.gov.it
	datacite.org
video: youtube.com youtu.be vimeo.com bilibili.com twitch.tv dailymotion.com ted.com/talks nicovideo.jp rumble.com
	youku.com media.ccc.de peertube.tv
social: twitter.com x.com facebook.com instagram.com linkedin.com tiktok.com mastodon.social threads.net threads.com
	bsky.app weibo.com pinterest.com t.me vk.com discord.com xiaohongshu.com douyin.com fosstodon.org truthsocial.com
	snapchat.com
shop: amazon.com amazon.de amazon.co.uk amazon.fr amazon.co.jp ebay.com ebay.de etsy.com aliexpress.com alibaba.com
	walmart.com bestbuy.com target.com newegg.com ikea.com taobao.com jd.com rakuten.co.jp otto.de mediamarkt.de
	zalando.de homedepot.com booking.com play.google.com/store apps.apple.com myshopify.com temu.com idealo.de
`

// place is a path on a host with its genre.
type place struct{ path, genre string }

// hosts maps each listed host to its places, longest path first.
var hosts = readHosts(listed)

func readHosts(list string) map[string][]place {
	found := map[string][]place{}
	for _, n := range readNames(list) {
		host, path, _ := strings.Cut(n.name, "/")
		found[host] = append(found[host], place{"/" + path, n.genre})
	}
	for _, places := range found {
		slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(len(b.path), len(a.path)) })
	}
	return found
}

// named is a name with the genre that it indicates.
type named struct{ name, genre string }

// readNames reads a list of names separated by white space. A word with a colon is the genre of the names after it.
func readNames(list string) (names []named) {
	genre := ""
	for _, field := range strings.Fields(list) {
		if name, ok := strings.CutSuffix(field, ":"); ok {
			genre = name
			continue
		}
		names = append(names, named{field, genre})
	}
	return names
}

// genreOf returns the genres of the names in a list.
func genreOf(list string) map[string]string {
	found := map[string]string{}
	for _, n := range readNames(list) {
		found[n.name] = n.genre
	}
	return found
}
