import { dirname, join, normalize } from 'node:path'
import { defineConfig } from 'vitepress'
import { SIDEBAR, SITE_ONLY } from '../sidebar.ts'

/*
 * The site: pages of docs and of the root as they are, and the pages of `pages.ts`. Links to files that are no pages
 * lead to the repository. `npm run docs:site` builds it into lib/site, and fails for a dead link.
 */

const REPOSITORY = 'https://github.com/interlingua/interlingua'
const ROOT = join(import.meta.dirname, '../../..')

/** Returns the address of a link that is no page, or undefined for pages and other sites. */
function fileAddress(link: string, page: string): string | undefined {
  if (/^[a-z]+:|^#|^\/|\.md(#|$)/.test(link)) return undefined
  return `${REPOSITORY}/blob/main/${normalize(join(dirname(page), link))}`
}

export default defineConfig({
  title: 'Interlingua',
  description: 'A self-hosted gateway: any AI client to any AI model, each in its own request format',
  srcDir: ROOT,
  outDir: join(ROOT, 'lib/site'),
  cacheDir: join(ROOT, 'lib/.site-cache'),
  srcExclude: [
    '{.github,bench,building,bin,catalogue,conformance,console,dist,fixtures,src,test}/**',
    'lib/!(pages)/**',
  ],
  rewrites: page => (page === 'README.md' ? 'index.md' : page.replace(/^lib\/pages\//, 'docs/')),
  lastUpdated: false,
  markdown: {
    config: md => {
      const open = md.renderer.rules.link_open!
      md.renderer.rules.link_open = (tokens, index, options, env, self) => {
        const address = fileAddress(tokens[index]!.attrGet('href') ?? '', env.relativePath)
        if (address !== undefined) tokens[index]!.attrSet('href', address)
        return open(tokens, index, options, env, self)
      }
    },
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/docs/start' },
      { text: 'Guides', link: '/docs/guides/README' },
      { text: 'Library', link: '/reference/index.html', target: '_self' },
      { text: 'Conformance', link: '/docs/conformance' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: [...SIDEBAR, ...SITE_ONLY],
    search: { provider: 'local' },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
})
