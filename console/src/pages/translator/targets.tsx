import type { Translations } from '../../api/types.ts'
import { shortFormatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { Code } from '../../ui/code.tsx'
import { Empty } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { loudIn } from './in-formats.ts'
import { text } from './texts.ts'
import { type InFormat, Written } from './written.tsx'

/** Value of the tab with all formats. */
export const ALL = 'all'
const CANONICAL = 'canonical'

interface TargetsProps {
  readonly data: Translations
  readonly all: readonly InFormat[]
  readonly tab: string
  readonly onTab: (tab: string) => void
  readonly active: string | undefined
  readonly onActive: (id: string | undefined, show?: boolean) => void
  readonly onTake: (of: InFormat) => void
}

/** Tabs with the translations: all formats, the canonical form, and each format. */
export const Targets = ({ data, all, tab, onTab, active, onActive, onTake }: TargetsProps) => (
  <Tabs
    label={text().targets}
    value={tab}
    onValue={onTab}
    tabs={[
      { value: ALL, label: text().all },
      ...all.map(one => ({ value: one.format, label: <TabLabel of={one} /> })),
      { value: CANONICAL, label: text().canonical },
    ]}
  >
    {tab === CANONICAL ? (
      <div class="stack">
        <p class="faint">{text().canonicalHint}</p>
        <Code text={JSON.stringify(data.canonical, null, 2)} label={text().canonical} />
      </div>
    ) : (
      <div class={tab === ALL ? 'stack' : 'stack alone'}>
        {all.length === 0 && <Empty title={text().alone} />}
        {all
          .filter(({ format }) => tab === ALL || tab === format)
          .map(one => (
            <Written
              key={one.format}
              of={one}
              isStream={data.kind === 'events'}
              active={active}
              onActive={onActive}
              onTake={() => onTake(one)}
            />
          ))}
      </div>
    )}
  </Tabs>
)

const TabLabel = ({ of }: { readonly of: InFormat }) => {
  const loud = loudIn(of)
  return (
    <span class="tab-label">
      {shortFormatName(of.format)}
      {of.error !== undefined ? <Badge tone="bad">!</Badge> : loud > 0 && <Badge tone="warn">{loud}</Badge>}
    </span>
  )
}
