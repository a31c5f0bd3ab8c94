/** A group of pages in the menu: its title, and its pages with their titles. */
type Group = readonly [title: string, pages: Readonly<Record<string, string>>]

const GROUPS: readonly Group[] = [
  [
    'Use it',
    {
      'docs/start': 'Start',
      'docs/clients': 'Clients',
      'docs/guides/claude-code': 'Claude Code on any model',
      'docs/guides/codex': 'Codex on Claude or Gemini',
      'docs/guides/gemini-cli': 'Gemini CLI on a local model',
      'docs/guides/moving': 'Moving from other gateways',
      'docs/guides/troubleshooting': 'Troubleshooting',
      'docs/endpoints': 'Endpoints',
      'docs/features': 'Besides translating',
      'docs/loss-reporting': 'Losses',
    },
  ],
  [
    'Operate it',
    {
      'docs/configuration': 'Configuration',
      'docs/clouds': 'Clouds',
      'docs/dialects': 'Dialects',
      'docs/keys-and-limits': 'Keys, limits, usage',
      'docs/deployment': 'Deployment',
      'docs/operations': 'Operation',
      'docs/console': 'Console',
      'docs/admin-api': 'Admin API',
      SECURITY: 'Security',
      'docs/dependencies': 'Dependencies',
      'docs/benchmarks': 'Cost',
    },
  ],
  [
    'Build with it',
    {
      'docs/conformance': 'Comparison of gateways',
      'docs/conformance-kit': 'Conformance kit',
      'docs/record-replay': 'Record and replay',
      'docs/testing': 'Tests of applications',
      'docs/library': 'Library',
    },
  ],
  [
    'Formats',
    {
      'docs/formats': 'Fields of each format',
      'docs/losses': 'Losses of fixtures',
      'docs/newer': 'Newer fields and events',
      'docs/traps': 'Faults of translation',
      'docs/wire/README': 'On the wire',
    },
  ],
  [
    'Change it',
    {
      ARCHITECTURE: 'Architecture',
      CONTRIBUTING: 'Contributing',
      'docs/decisions/README': 'Decisions',
      CHANGELOG: 'Changelog',
    },
  ],
]

/** The menu of the site. */
export const SIDEBAR = GROUPS.map(([text, pages]) => ({
  text,
  items: Object.entries(pages).map(([page, title]) => ({ text: title, link: `/${page}` })),
}))
