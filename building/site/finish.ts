import { cpSync, existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/* Adds the reference of the library to the built site, and checks every link between its files. */

const LIB = join(import.meta.dirname, '../../lib')
const SITE = join(LIB, 'site')

cpSync(join(LIB, 'reference'), join(SITE, 'reference'), { recursive: true })

const texts = new Map<string, string>()

/** Returns the text of a file of the site. */
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(SITE, file), 'utf8')
  texts.set(file, text)
  return text
}

/** Returns why a link leads nowhere, or undefined. */
function faultOf(link: string, page: string): string | undefined {
  const url = new URL(link.replaceAll('&amp;', '&'), `http://site/${page}`)
  if (url.origin !== 'http://site') return undefined
  const path = decodeURIComponent(url.pathname).slice(1)
  const file = path === '' || path.endsWith('/') ? `${path}index.html` : path
  if (!existsSync(join(SITE, file))) return 'there is no such file'
  const anchor = decodeURIComponent(url.hash.slice(1))
  if (anchor === '' || !file.endsWith('.html')) return undefined
  return textOf(file).includes(`id="${anchor}"`) ? undefined : 'the page has no such heading'
}

const dead = globSync('**/*.html', { cwd: SITE }).flatMap(page =>
  [...new Set([...textOf(page).matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, link]) => link!))].flatMap(link => {
    const fault = faultOf(link, page)
    return fault === undefined ? [] : [`${page}: ${link}: ${fault}`]
  }),
)
if (dead.length > 0) {
  console.error(`${dead.join('\n')}\n${dead.length} dead links`)
  process.exitCode = 1
} else console.log(`${texts.size} files of the site, no dead link`)
