package quantity

import "strconv"

// signs of money, before or behind a number.
var signs = map[string]string{"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "￥": "CNY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY", "₪": "ILS"}

// letterSigns are what stands before a dollar sign.
var letterSigns = map[string]string{"US": "USD", "A": "AUD", "C": "CAD", "CA": "CAD", "AU": "AUD", "HK": "HKD", "NZ": "NZD", "S": "SGD", "NT": "TWD", "R": "BRL"}

const currencyCodes = `USD EUR GBP JPY CNY RMB INR CHF CAD AUD NZD SEK NOK DKK HKD SGD KRW BRL MXN ZAR RUB TRY PLN CZK HUF TWD THB ILS ISK RON BGN UAH AED SAR EGP NGN KES IDR MYR PHP VND CLP COP ARS PKR BDT`

var currencyWords = map[string]string{
	"dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "yen": "JPY", "yuan": "CNY", "renminbi": "CNY", "rupee": "INR", "rupees": "INR",
	"franken": "CHF", "francs": "CHF", "rubles": "RUB", "roubles": "RUB", "kronor": "SEK", "美元": "USD", "欧元": "EUR", "人民币": "CNY",
	"krone": "kroner", "kroner": "kroner", "kronen": "kroner", "krona": "SEK", "zloty": "PLN", "zlotys": "PLN", "złoty": "PLN", "koruna": "CZK", "korunas": "CZK", "forint": "HUF",
	"forints": "HUF", "peso": "pesos", "pesos": "pesos", "real": "BRL", "reais": "BRL", "rand": "ZAR", "baht": "THB", "shekel": "ILS", "shekels": "ILS", "lira": "lira", "lire": "lira", "liras": "lira",
	"dirham": "AED", "dirhams": "AED", "riyal": "SAR", "riyals": "SAR", "dinar": "dinars", "dinars": "dinars", "naira": "NGN", "hryvnia": "UAH", "hryvnias": "UAH", "ringgit": "MYR", "rupiah": "IDR",
	"ducat": "ducats", "ducats": "ducats", "guinea": "guineas", "guineas": "guineas", "florin": "florins", "florins": "florins", "soldi": "soldi", "shilling": "shillings", "shillings": "shillings",
	"crowns": "crowns", "thaler": "thalers", "thalers": "thalers", "taler": "thalers", "gulden": "florins", "livres": "livres", "rubel": "RUB", "cents": "cents", "cent": "cents",
	"dólar": "USD", "dólares": "USD", "dollaro": "USD", "dollari": "USD", "доллар": "USD", "доллара": "USD", "долларов": "USD", "евро": "EUR", "рубль": "RUB", "рубля": "RUB", "рублей": "RUB",
	"瑞郎": "CHF", "韩元": "KRW", "卢布": "RUB", "新元": "SGD", "台币": "TWD",
	"元": "CNY", "日元": "JPY", "日圆": "JPY", "円": "JPY", "英镑": "GBP", "港元": "HKD", "卢比": "INR",
}

// code reads a sum that begins with letters: USD 5 million, US$5, EUR 3,5 Mio.
func (p *parser) code(i int, word string, end int) int {
	currency := ""
	switch {
	case end < len(p.s) && p.s[end] == '$' && letterSigns[word] != "":
		currency = letterSigns[word]
		end++
	case len(word) == 3 && units[word].kind == Money:
		currency = units[word].base
	default:
		return i
	}
	at := p.skipSpace(end, 1)
	if !digitAt(p.s, at) {
		return i
	}
	n, ok := p.number(at)
	if !ok {
		return n.end
	}
	return p.finish(i, n, currency)
}

func parseFactor(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic("quantity: factor " + s) // of the table of this package
	}
	return f
}
