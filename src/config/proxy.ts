import type { Env } from './source.ts'
import type { ProxyConfig } from './types.ts'

/** Hosts of this machine, which the environment's proxies never get. */
const THIS_MACHINE = 'localhost,127.0.0.1,[::1]'

/**
 * Returns the proxies for outgoing connections: those of the config, else those of `HTTPS_PROXY`, `HTTP_PROXY` and
 * `NO_PROXY`. Names in lower case come first, as in curl.
 *
 * @param written URL of a proxy, or `none`; undefined if the config names none.
 */
export function proxyOf(written: string | undefined, env: Env): ProxyConfig | undefined {
  if (written === 'none') return undefined
  if (written !== undefined) return { http: written, https: written, except: '' }
  const http = env['http_proxy'] || env['HTTP_PROXY'] || ''
  const https = env['https_proxy'] || env['HTTPS_PROXY'] || ''
  if (http === '' && https === '') return undefined
  return { http, https, except: [env['no_proxy'] || env['NO_PROXY'], THIS_MACHINE].filter(Boolean).join(',') }
}
