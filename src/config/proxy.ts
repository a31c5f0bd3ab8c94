import type { FaultAt } from './faults.ts'
import type { ProxyConfig } from './types.ts'
import { isDecodable } from './values.ts'
import { type Env, variableIn } from './variable.ts'

/** Hosts of this machine, which are never reached through the environment's proxies. */
const THIS_MACHINE = 'localhost,127.0.0.1,[::1]'

/** Returns the proxy that a config sets for all addresses, or undefined for `none`. */
export const namedProxy = (written: string): ProxyConfig | undefined =>
  written === 'none' ? undefined : { http: written, https: written, except: '' }

/**
 * Returns the proxies of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or undefined if there are none. As in curl,
 * lower-case names take precedence, and the scheme may be missing. Reports proxies with other schemes.
 */
export function environmentProxy(env: Env, fault: FaultAt): ProxyConfig | undefined {
  const variable = (name: string): string => variableIn(env, name.toLowerCase()) || variableIn(env, name) || ''
  const proxy = (name: string): string => {
    const value = variable(name)
    const address = value === '' || value.includes('://') ? value : `http://${value}`
    // curl takes a `%` without two digits as itself. Passwords have it, and the HTTP client cannot decode it.
    const url = address.replaceAll(/%(?![\da-f]{2})/gi, '%25')
    if (url === '' || (URL.canParse(url) && /^https?:/i.test(url) && isDecodable(url))) return url
    fault(['proxy'], `the variable ${name} is not the http or https URL of a proxy; \`proxy: none\` ignores it`)
    return ''
  }
  const [http, https] = [proxy('HTTP_PROXY'), proxy('HTTPS_PROXY')]
  if (http === '' && https === '') return undefined
  return { http, https, except: [variable('NO_PROXY'), THIS_MACHINE].filter(Boolean).join(',') }
}
