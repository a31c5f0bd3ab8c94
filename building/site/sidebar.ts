import { PRESETS } from '../../src/formats/index.ts'
import { CLIENTS } from './client-pages.ts'
import { titleOf } from './provider-pages.ts'

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
      'docs/settings': 'Settings',
      'docs/providers': 'Providers',
      'docs/clouds': 'Clouds',
      'docs/clouds/bedrock': 'Amazon Bedrock',
      'docs/clouds/vertex': 'Google Cloud',
      'docs/clouds/azure': 'Azure',
      'docs/clouds/cohere': 'Cohere',
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
      'docs/formats': 'All formats',
      'docs/formats/chat': 'Chat Completions',
      'docs/formats/responses': 'Responses',
      'docs/formats/messages': 'Messages',
      'docs/formats/contents': 'Gemini contents',
      'docs/formats/interactions': 'Gemini Interactions',
      'docs/formats/converse': 'Converse',
      'docs/formats/cohere-chat': 'Cohere chat',
      'docs/losses': 'Losses of fixtures',
      'docs/newer': 'Newer fields and events',
      'docs/traps': 'Faults of translation',
      'docs/wire/README': 'On the wire',
    },
  ],
  [
    'Change it',
    {
      'docs/how-it-works': 'How it works',
      ARCHITECTURE: 'Architecture',
      CONTRIBUTING: 'Contributing',
      'docs/development/recipes': 'Recipes',
      'docs/development/glossary': 'Glossary',
      'docs/development/streamed-request': 'A streamed request',
      'docs/development/facts-about-models': 'Facts about models',
      'docs/development/voice-sessions': 'A voice session',
      'docs/development/shared-state': 'State of instances',
      'docs/development/dependencies': 'Why each dependency',
      'docs/development/tests': 'Tests that need more',
      'docs/development/attacks': 'Map of attacks',
      'docs/development/release': 'A release',
      'docs/decisions/README': 'Decisions',
      CHANGELOG: 'Changelog',
    },
  ],
]

/** The menu of the site, as far as its pages are files of the repository. */
export const SIDEBAR = GROUPS.map(([text, pages]) => ({
  text,
  items: Object.entries(pages).map(([page, title]) => ({ text: title, link: `/${page}` })),
}))

/** The menu of the pages that only the site has. */
export const SITE_ONLY = [
  {
    ...{ text: 'Each client', collapsed: true },
    items: CLIENTS.map(({ id, name }) => ({ text: name, link: `/docs/clients/${id}` })),
  },
  {
    ...{ text: 'Each provider', collapsed: true },
    items: [...PRESETS.keys()].map(name => ({ text: titleOf(name), link: `/docs/providers/${name}` })),
  },
]
