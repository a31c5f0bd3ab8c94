import './translator.css'
import { useCallback, useMemo, useRef, useState } from 'preact/hooks'
import { get, post } from '../../api/request.ts'
import type { AllOf, TranslateExample } from '../../api/types.ts'
import { useDraft } from '../../drafts.ts'
import { common } from '../../i18n/common.ts'
import { useShortcut } from '../../keyboard.ts'
import { Button } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy.tsx'
import { Page } from '../../ui/page.tsx'
import { Loading } from '../../ui/states.tsx'
import { toast, toastProblem } from '../../ui/toast.tsx'
import { Beginning } from './beginning.tsx'
import { Examples } from './examples.tsx'
import { inFormats } from './in-formats.ts'
import { marksIn } from './marks.ts'
import { fragmentOf } from './permalink.ts'
import { type Source, SourceCard, sizeOf } from './source.tsx'
import { ALL, Targets } from './targets.tsx'
import { text as words } from './texts.ts'
import { useLinked } from './use-linked.ts'
import { useTranslation } from './use-translation.ts'

const NOTHING: Source = { text: '', format: '', kind: '' }

/** Maximum length of a link that chat programs and browsers accept, in characters. */
const LONGEST = 60_000

/** Translator page: a text in one format and its translation into all others. */
export default function Translator() {
  const [source, setSource] = useDraft('translator', NOTHING)
  const [tab, setTab] = useState(ALL)
  const [active, setActive] = useState<string>()
  const [choosing, setChoosing] = useState(false)
  const editor = useRef<HTMLDivElement>(null)
  const { text, format, kind } = source
  const translation = useTranslation({ text, ...(format === '' ? {} : { format }), ...(kind === '' ? {} : { kind }) })
  const { data, of } = translation

  const all = useMemo(() => (data === undefined ? [] : inFormats(data, of)), [data, of])
  const shown = all.some(one => one.format === tab) || tab === 'canonical' ? tab : ALL
  const losses = useMemo(
    () => all.filter(one => shown === ALL || one.format === shown).flatMap(one => one.losses),
    [all, shown],
  )
  const isStream = data?.kind === 'events'
  const marks = useMemo(() => marksIn(of, losses, { side: 'pointer_from', isStream }), [of, losses, isStream])

  const take = useCallback((next: Partial<Source>): void => {
    setSource({ ...NOTHING, ...next })
    setActive(undefined)
    setChoosing(false)
  }, [])
  useLinked(take)
  useShortcut(
    'e',
    useCallback(() => setChoosing(true), []),
    words().examples,
  )

  const look = (id: string | undefined, show = false): void => {
    setActive(id)
    if (show && id !== undefined) showLoss(id, editor.current)
  }
  const next = useRef(() => {})
  next.current = () => {
    const at = losses.findIndex(({ id }) => id === active)
    const following = losses[(at + 1) % losses.length]
    if (following === undefined) return
    look(following.id, true)
    document.getElementById(following.id)?.focus({ preventScroll: true })
  }
  useShortcut(
    'n',
    useCallback(() => next.current(), []),
    words().nextLoss,
  )

  return (
    <Page
      title={common().pages.translator}
      lead={words().lead}
      actions={
        <>
          <Button icon="menu" onClick={() => setChoosing(true)}>
            {words().examples} <kbd aria-hidden="true">e</kbd>
          </Button>
          <Button icon="link" disabled={text === ''} onClick={() => copyLink(source).catch(toastProblem)}>
            {words().link}
          </Button>
        </>
      }
    >
      <div class="translator">
        <SourceCard
          source={source}
          onSource={one => setSource(one)}
          translation={translation}
          marks={of === text ? marks : []}
          active={active}
          onActive={look}
          host={editor}
        />
        <div class="targets">
          {data !== undefined ? (
            <Targets
              data={data}
              all={all}
              tab={shown}
              onTab={setTab}
              active={active}
              onActive={look}
              onTake={one => take({ text: one.written ?? '', format: one.format, kind: data.kind })}
            />
          ) : translation.busy ? (
            <Loading lines={8} />
          ) : (
            text === '' && <Beginning onChoose={what => void choose(what, take)} onMore={() => setChoosing(true)} />
          )}
        </div>
      </div>
      {choosing && <Examples onChoose={take} onClose={() => setChoosing(false)} />}
    </Page>
  )
}

/** Scrolls to the mark of a loss. */
function showLoss(id: string, editor: HTMLElement | null): void {
  const marked = [...document.querySelectorAll<HTMLElement>('.translator mark[data-losses]')].filter(one =>
    one.dataset['losses']!.split(' ').includes(id),
  )
  const given = marked.find(one => editor?.contains(one))
  const written = marked.find(one => !editor?.contains(one))
  for (const one of [given, written]) one?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

async function choose(
  what: Pick<TranslateExample, 'format' | 'kind' | 'name'>,
  take: (example: TranslateExample) => void,
): Promise<void> {
  try {
    const { data } = await get<AllOf<TranslateExample>>('/translate/examples')
    const same = data.filter(({ format, kind }) => format === what.format && kind === what.kind)
    const found = same.find(({ name }) => name === what.name) ?? same[0]
    if (found !== undefined) take(found)
  } catch (thrown) {
    toastProblem(thrown)
  }
}

/** Writes the text without secrets into the page's address and copies the address. */
async function copyLink({ text, format, kind }: Source): Promise<void> {
  const shared = await post<{ readonly text: string }>('/translate/redacted', { text })
  const linked = { text: shared.text, ...(format === '' ? {} : { format }), ...(kind === '' ? {} : { kind }) }
  const fragment = await fragmentOf(linked)
  if (fragment.length > LONGEST) return toast(words().tooLong(sizeOf(fragment), `${LONGEST / 1000} kB`), 'bad')
  history.replaceState(history.state, '', fragment)
  await copyText(location.href)
  toast(shared.text === text ? words().linked(sizeOf(fragment)) : words().linkedWithout(sizeOf(fragment)))
}
