import { isIP } from 'node:net'
import { isReachable } from '../upstreams/channel/index.ts'

const KEY_PLACEHOLDER = '[key]'
const ADDRESS_PLACEHOLDER = '[address]'
const ACCOUNT_PLACEHOLDER = '[account]'

/**
 * Matches a secret after a word that announces one, also at the end of a name such as `AWS_SECRET_ACCESS_KEY` or
 * `dbPassword`. Repetitions are bounded or unambiguous, so matching takes linear time.
 */
const NAMED_SECRETS =
  /((?:(?:api|access|account|secret|private|subscription)[-_ ]?key|(?:access|auth|api|security|session)[-_ ]?token|authorization|password|passwd|secret)(?: \w{1,20})?["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token) )?|\b(?:bearer|basic) )([^\s"',;&<>()]{8,})/gi
/** Matches keys by the prefixes that providers, clouds and code hosts use. */
const PREFIXED_KEYS =
  /(?<![\w-])(?:(?:sk|rk|pk|xai|gsk|nvapi|pplx|hf|r8|fw|jina|csk|tgp_v1|gh[oprsu]|github_pat|xapp|xox[abceoprsd])[-_][\w*.…-]{12,}|xoxe\.xox[bp]-[\w-]{12,}|AIza[\w-]{20,}|AQ\.[A-Za-z0-9][\w-]{38,}|ya29\.[\w.-]{20,}|A[KS]IA[A-Z0-9]{16}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)/g
/** Matches API keys of Bedrock, session tokens of AWS, and client secrets of Google and of Entra, by their forms. */
const CLOUD_SECRETS =
  /(?<![\w+/-])(?:bedrock-api-key-[\w+/=-]{40,}|ABSK[A-Za-z0-9+/]{60,}={0,2}|(?:FwoGZXIvYXdz|IQoJb3JpZ2luX2Vj)[A-Za-z0-9+/]{40,}={0,2}|GOCSPX-[\w-]{20,}|[\w.-]{3}[78]Q~[\w.~-]{31,34})/g
/**
 * Matches keys of services that agents use, by their forms: code hosts and registries, issue trackers, searches, shops,
 * databases and mail (github.com/gitleaks/gitleaks, config/gitleaks.toml).
 */
const SERVICE_KEYS =
  /(?<![\w-])(?:glpat-[\w-]{20,}|npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{20,}|do[op]_v1_[0-9a-f]{64}|dckr_pat_[\w-]{20,}|dapi[0-9a-f]{32}|figd_[\w-]{30,}|lin_api_[A-Za-z0-9]{40}|ntn_[A-Za-z0-9]{40,}|ATATT3[\w=-]{50,}|shp(?:at|ca|pa|ss)_[0-9a-f]{32}|glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|tvly-[\w-]{20,}|fc-[0-9a-f]{32}|pa-[\w-]{43}(?![\w-])|whsec_[\w+/=-]{24,}|hvs\.[\w-]{24,}|SG\.[\w-]{16,32}\.[\w-]{32,64})/g
/** Matches keys of further services by their forms: the rules of gitleaks with a prefix of their own (read 2026-12-01). */
const MORE_SERVICE_KEYS =
  /(?<![\w-])(?:vc[akpri]_[A-Za-z0-9]{24,}|rnd_[A-Za-z0-9]{28,}|rpa_[A-Z0-9]{30,}|gl(?:agent|cbt|dt|ffct|ft|imt|oas|ptt|rt|soat)-[\w.-]{20,}|glc_[\w+/]{32,}={0,3}|ops_eyJ[\w+/=]{40,}|AGE-SECRET-KEY-1[0-9A-Z]{50,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|LTAI[A-Za-z0-9]{12,20}(?!\w)|AKID[A-Za-z0-9]{32}(?!\w)|AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59}|dor_v1_[0-9a-f]{64}|dp\.(?:ct|pt|sa|st)\.[\w.-]{40,}|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}|EAA[A-Za-z0-9]{100,}|fm[12][ar]?_[\w+/=-]{100,}|eyJrIjoi[A-Za-z0-9]{70,}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}|HRKU-[\w-]{58,}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|NRAK-[A-Z0-9]{27}|pscale_(?:oauth|pw|tkn)_[\w.-]{32,}|pul-[0-9a-f]{40}|rubygems_[0-9a-f]{48}|pnu_[A-Za-z0-9]{36}|rdme_[a-z0-9]{70}|xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}|sntry[su]_[\w+/=]{40,}|dckr_oat_[\w-]{20,}|AT(?:BB[A-Za-z0-9]{28,}|CTT3[\w=-]{50,})|hvb\.[\w-]{24,}|SK[0-9a-f]{32}(?!\w)|\d{8,10}:A[\w-]{34}(?![\w-])|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w.-]))/g
/** Matches the secret in the address of a webhook of Slack, Discord or Teams, or of a bot of Telegram. */
const WEBHOOKS =
  /(\bwebhook\.office\.com\/webhookb2\/|\bhooks\.slack\.com\/(?:services|triggers|workflows)\/|\bdiscord(?:app)?\.com\/api\/webhooks\/\d{10,20}\/|\bapi\.telegram\.org\/(?:file\/)?bot)[\w:/@-]{20,}/g
/**
 * Matches the signature or the token of an address that grants access to a file: of AWS, Google (also Firebase), Azure,
 * Alibaba Cloud, Tencent Cloud and Volcengine.
 */
const SIGNATURES =
  /([?&](?:X-[a-z]{2,8}-(?:Signature|Security-Token)|(?:q-)?Signature|Security-Token|sig|token)=)([^&#\s"'<>\\]{16,})/gi
/** Matches the content of a private key in PEM, with line ends as they are or as JSON escapes them. */
const PRIVATE_KEYS = /(-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----)(?:[\w+/=\s]|\\{1,4}[rn]){40,16000}/g
/** Matches the password in an address. */
const ADDRESS_PASSWORDS = /(:\/\/[^\s:/?#@"'<>\\]{0,80}:)([^\s/?#@"'<>\\]{4,200})(?=@)/g
/** Matches characters that distinguish a key from an ordinary word: a digit, or the mask in its middle. */
const KEY_CHARACTERS = /[\d*…]/

/** Matches the operator's account ids by OpenAI's prefixes. */
const ACCOUNT_IDS = /(?<![\w-])(?:org|proj|acct|team)[-_][A-Za-z0-9]{12,}(?![\w-])/g
/** Matches account ids after a word for an account. */
const NAMED_ACCOUNTS =
  /(\b(?:organi[sz]ation|project|account|tenant|workspace|team|subscription)(?:'s)?(?:[-_ ]?(?:id|number|uuid))?["']?[ :=]{1,3}["'`(]{0,2})(\d{6,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{12,}|(?:[a-z]{2,8}[-_])?[A-Za-z0-9]{16,})(?![\w-])/gi

const URLS = /\b([a-z][a-z0-9+.-]{1,15}:\/\/)([^\s"'<>\\/?#]{1,300})/gi
const IPV4_ADDRESSES = /(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?!\w|\.\d)/g
const IPV6_ADDRESSES =
  /(?<![\w:.])(?:\[([0-9a-f:.]{2,45})\](?::\d{1,5})?|((?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4})(?![\w:]))/gi
const INTERNAL_NAMES =
  /(?<![\w.-])(?:localhost|(?:[a-z0-9_-]{1,63}\.){1,8}(?:internal|local|localdomain|lan|intranet|corp|svc|consul))(?![\w-]|\.\w)(?::\d{1,5})?/gi

/** Replaces everything that looks like a key. */
export const withoutKeys = (text: string): string =>
  text
    .replace(PREFIXED_KEYS, found => (KEY_CHARACTERS.test(found) ? KEY_PLACEHOLDER : found))
    .replace(CLOUD_SECRETS, KEY_PLACEHOLDER)
    .replace(SERVICE_KEYS, found => (KEY_CHARACTERS.test(found) ? KEY_PLACEHOLDER : found))
    .replace(MORE_SERVICE_KEYS, found => (KEY_CHARACTERS.test(found) ? KEY_PLACEHOLDER : found))
    .replace(WEBHOOKS, `$1${KEY_PLACEHOLDER}`)
    .replace(PRIVATE_KEYS, `$1${KEY_PLACEHOLDER}`)
    .replace(SIGNATURES, `$1${KEY_PLACEHOLDER}`)
    .replace(ADDRESS_PASSWORDS, `$1${KEY_PLACEHOLDER}`)
    .replace(NAMED_SECRETS, (found, before: string, value: string) =>
      KEY_CHARACTERS.test(value) ? before + KEY_PLACEHOLDER : found,
    )

/** Replaces everything that looks like an account id. */
export const withoutAccounts = (text: string): string =>
  text
    .replace(ACCOUNT_IDS, found => (KEY_CHARACTERS.test(found) ? ACCOUNT_PLACEHOLDER : found))
    .replace(NAMED_ACCOUNTS, (found, before: string, id: string) =>
      KEY_CHARACTERS.test(id) ? before + ACCOUNT_PLACEHOLDER : found,
    )

/** Replaces addresses that are not public: private IP addresses, and host names that resolve only inside a network. */
export const withoutAddresses = (text: string): string =>
  text
    .replace(URLS, (_, scheme: string, authority: string) => scheme + publicHost(authority))
    .replace(IPV4_ADDRESSES, (found, address: string) => (isPrivate(address) ? ADDRESS_PLACEHOLDER : found))
    .replace(IPV6_ADDRESSES, (found, bracketed: string | undefined, bare: string) =>
      /\d/.test(found) && isPrivate(bracketed ?? bare) ? ADDRESS_PLACEHOLDER : found,
    )
    .replace(INTERNAL_NAMES, ADDRESS_PLACEHOLDER)

/**
 * Returns the host in the authority of a URL, without user and password. Replaces a name without a dot, because it is
 * internal.
 */
function publicHost(authority: string): string {
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const name = host.replace(/:\d{0,5}$/, '')
  return /^[\w-]+$/.test(name) ? ADDRESS_PLACEHOLDER : host
}

const isPrivate = (address: string): boolean => isIP(address) !== 0 && !isReachable(address)
