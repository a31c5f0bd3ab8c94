import { useState } from 'preact/hooks'
import { ProblemError } from '../../api/problem.ts'
import { get, patch, remove } from '../../api/request.ts'
import type { AllOf, ModelSettings } from '../../api/types.ts'
import { asProblem, useLoad } from '../../api/use-load.ts'
import { editsOf } from '../../edits.ts'
import { common } from '../../i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Area, Field, Select } from '../../ui/field.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Loaded, Problem } from '../../ui/states.tsx'
import { LIMITS, ORDERS, PRICES, type SettingsValues, settingsOf, valuesOf } from './settings-values.ts'
import { text } from './texts.ts'

interface SettingsFormProps {
  /** Id of the model. Empty for one that is still to be named. */
  readonly id: string
  /** Called after saving or deleting, with the message to show. */
  readonly onDone: (said: string) => void
  readonly onClose: () => void
}

const pathOf = (id: string): string => `/model-settings/${encodeURIComponent(id)}`

/** Loads the settings of a model that are in use. Undefined if there are none. */
async function loadSettings(id: string, signal?: AbortSignal): Promise<ModelSettings | undefined> {
  const { data } = await get<AllOf<ModelSettings>>('/model-settings', {}, signal)
  return data.find(one => one.id === id && one.shadowed !== true)
}

/** Form with the settings of a model: prices, fallback models, order of channels, limits. */
export function SettingsForm({ id, onDone, onClose }: SettingsFormProps) {
  const found = useLoad(async signal => ({ settings: id === '' ? undefined : await loadSettings(id, signal) }), [id])
  if (found.data !== undefined) return <Form id={id} of={found.data.settings} onDone={onDone} onClose={onClose} />
  return (
    <Dialog title={text().settings.title(id)} place="side" onClose={onClose}>
      <Loaded of={found} lines={5}>
        {() => null}
      </Loaded>
    </Dialog>
  )
}

type FormProps = SettingsFormProps & { readonly of: ModelSettings | undefined }

function Form({ id, of, onDone, onClose }: FormProps) {
  const words = text().settings
  const [initial] = useState(() => valuesOf(id, of?.settings ?? {}))
  const [values, setValues] = useState(initial)
  const [problem, setProblem] = useState<ProblemError>()
  const [isBusy, setBusy] = useState(false)
  const set = (change: Partial<SettingsValues>): void => setValues(all => ({ ...all, ...change }))
  const isFixed = of?.source === 'config'
  const errorAt = (path: string): string | undefined => {
    const pointer = `/${path.replaceAll('.', '/')}`
    return problem?.errors.find(one => one.pointer === pointer || one.pointer?.startsWith(`${pointer}/`))?.detail
  }
  const run = async (call: () => Promise<unknown>, said: string): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setProblem(undefined)
    await call().then(
      () => onDone(said),
      thrown => setProblem(thrown instanceof SyntaxError ? notJson(thrown) : asProblem(thrown)),
    )
    setBusy(false)
  }
  const named = values.id.trim()
  const save = (): Promise<void> =>
    run(async () => patch(pathOf(named), editsOf(settingsOf(initial), settingsOf(values))), words.saved(named))
  const shared = { values, set, errorAt, isFixed }
  return (
    <Dialog
      title={id === '' ? words.create : words.title(id)}
      place="side"
      sticky={values !== initial}
      onClose={onClose}
      onSubmit={isFixed || named === '' ? () => {} : save}
      footer={
        isFixed ? (
          <Button onClick={onClose}>{common().close}</Button>
        ) : (
          <>
            {of !== undefined && (
              <Button kind="plain" icon="trash" onClick={() => run(() => remove(pathOf(id)), words.deleted(id))}>
                {words.remove}
              </Button>
            )}
            <FormActions submit={common().save} busy={isBusy} disabled={named === ''} onClose={onClose} />
          </>
        )
      }
    >
      {isFixed && (
        <p class="callout">
          <Icon name="info" />
          <span>{words.fixed}</span>
        </p>
      )}
      {id === '' && (
        <Field
          label={words.id}
          hint={words.idHint}
          value={values.id}
          onValue={next => set({ id: next })}
          error={errorAt('id')}
          spellcheck={false}
          autocomplete="off"
          required
          data-autofocus
        />
      )}
      <Numbers {...shared} />
      <Others {...shared} />
      {problem && !problem.errors.some(one => isShown(one.pointer)) && <Problem error={problem} />}
    </Dialog>
  )
}

/** Whether the form has a field for the pointer of an error. */
const isShown = (pointer = ''): boolean => /^\/(id|name|order|fallbacks|price|context|max_output)(\/|$)/.test(pointer)

const notJson = (fault: SyntaxError): ProblemError =>
  new ProblemError(-1, { detail: text().settings.notJson(fault.message) })

interface PartProps {
  readonly values: SettingsValues
  readonly set: (change: Partial<SettingsValues>) => void
  readonly errorAt: (path: string) => string | undefined
  readonly isFixed: boolean
}

/** Prices and limits. */
function Numbers({ values, set, errorAt, isFixed }: PartProps) {
  const words = text().settings
  const field = (path: string, label: string, affix: object) => (
    <Field
      key={path}
      label={label}
      value={values.numbers[path] ?? ''}
      onValue={value => set({ numbers: { ...values.numbers, [path]: value } })}
      error={errorAt(path)}
      readOnly={isFixed}
      inputMode="decimal"
      autocomplete="off"
      {...affix}
    />
  )
  return (
    <>
      <fieldset class="stack">
        <legend>{text().panel.prices}</legend>
        <div class="grid-2">
          {PRICES.map(kind => field(`price.${kind}`, text().panel.price[kind], { prefix: '$' }))}
        </div>
        <p class="note">{words.priceHint}</p>
      </fieldset>
      <div class="grid-2">{LIMITS.map(limit => field(limit, words.limits[limit], { suffix: words.tokens }))}</div>
    </>
  )
}

/** Fallback models, order of channels, name, and all fields without a field of their own. */
function Others({ values, set, errorAt, isFixed }: PartProps) {
  const words = text().settings
  return (
    <>
      <Area
        label={text().panel.fallbacks}
        hint={words.fallbacksHint}
        value={values.fallbacks}
        onValue={fallbacks => set({ fallbacks })}
        error={errorAt('fallbacks')}
        readOnly={isFixed}
        rows={3}
        mono
        spellcheck={false}
      />
      <Select
        label={text().panel.order}
        value={values.order}
        onValue={order => set({ order })}
        error={errorAt('order')}
        disabled={isFixed}
        options={[
          { value: '', label: words.usualOrder },
          ...ORDERS.map(value => ({ value, label: text().panel.orders[value] })),
        ]}
      />
      <Field
        label={words.name}
        hint={words.nameHint}
        value={values.name}
        onValue={name => set({ name })}
        error={errorAt('name')}
        readOnly={isFixed}
        autocomplete="off"
      />
      <Area
        label={words.further}
        hint={words.furtherHint}
        value={values.more}
        onValue={more => set({ more })}
        readOnly={isFixed}
        rows={3}
        mono
        spellcheck={false}
      />
    </>
  )
}
