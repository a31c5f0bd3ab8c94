import { useMemo } from 'preact/hooks'
import type { ChannelDetails, Provider } from '../../../api/types.ts'
import { named } from '../../../i18n/catalogue.ts'
import { common } from '../../../i18n/common.ts'
import { Button } from '../../../ui/button.tsx'
import { Combobox } from '../../../ui/combobox.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Area, Field } from '../../../ui/field.tsx'
import { Problem } from '../../../ui/states.tsx'
import { text } from '../texts.ts'
import { DraftResult } from './draft-result.tsx'
import { ProviderFields } from './provider-fields.tsx'
import { type Editor, useEditor } from './use-editor.ts'
import { type ChannelConfig, newValues, valuesOf } from './values.ts'

interface EditorFormProps {
  readonly providers: readonly Provider[]
  /** The stored config. Undefined for a new channel. */
  readonly config: ChannelConfig | undefined
  readonly onSaved: (channel: ChannelDetails) => void
  readonly onClose: () => void
}

/** The form of a channel: its provider, the fields of that, its models, a test, and the text for the config file. */
export function EditorForm({ providers, config, onSaved, onClose }: EditorFormProps) {
  const words = text().editor
  const byName = useMemo(() => new Map(providers.map(one => [one.name, one])), [providers])
  const providerOf = (name: string): Provider => byName.get(name) ?? providers[0]!
  const initial = useMemo(() => {
    const name = String(config?.['provider'] ?? providers[0]!.name)
    return config === undefined ? newValues(providerOf('openai').name) : valuesOf(config, providerOf(name))
  }, [])
  const editor = useEditor(initial, providerOf, config, onSaved)
  const { values, set, errorAt, busy } = editor
  const provider = providerOf(values.provider)
  return (
    <Dialog
      title={config === undefined ? words.create : words.change(String(config['name']))}
      place="side"
      wide
      sticky={values !== initial}
      onClose={onClose}
      onSubmit={editor.save}
      footer={
        <>
          <Button onClick={onClose}>{common().cancel}</Button>
          <Button icon="play" busy={busy === 'test'} onClick={editor.test}>
            {words.test}
          </Button>
          <Button kind="primary" type="submit" busy={busy === 'save'}>
            {config === undefined ? words.add : common().save}
          </Button>
        </>
      }
    >
      <div class="grid-2">
        {config === undefined ? (
          <Combobox
            label={words.provider}
            value={values.provider}
            onValue={name => set({ ...newValues(name), name: values.name === values.provider ? name : values.name })}
            options={providers.map(one => ({ value: one.name, label: one.name, note: workOf(one) }))}
            placeholder={words.provider}
            nothing={words.noProvider}
            more={words.moreProviders}
          />
        ) : (
          <Field label={words.provider} value={values.provider} onValue={() => {}} disabled />
        )}
        <Field
          label={words.name}
          value={values.name}
          onValue={name => set({ name })}
          error={errorAt('name')}
          disabled={config !== undefined}
          autocomplete="off"
          spellcheck={false}
          required
        />
      </div>
      <ProviderFields editor={editor} provider={provider} />
      <Area
        label={words.models}
        hint={words.modelsHint(provider.fields.find(({ name }) => name === 'models')?.default ?? '*')}
        value={values.models}
        onValue={models => set({ models })}
        error={errorAt('models')}
        rows={4}
        mono
        spellcheck={false}
      />
      <More editor={editor} />
      {editor.problem && <Problem error={editor.problem} />}
      <DraftResult editor={editor} />
    </Dialog>
  )
}

const workOf = ({ formats }: Provider): string =>
  [...new Set(formats.flatMap(({ does }) => does))].map(work => named('works', work)).join(', ')

/** Order, limits and all fields of the config that have no field of their own. */
function More({ editor: { values, set, errorAt, errorsOfMore } }: { readonly editor: Editor }) {
  const words = text().editor
  return (
    <details class="channel-more" open={errorsOfMore !== undefined || undefined}>
      <summary>{words.more}</summary>
      <div class="grid-2">
        {(['priority', 'weight', 'max_concurrent'] as const).map(field => (
          <Field
            key={field}
            label={words.numbers[field]}
            hint={words.numberHints[field]}
            value={values[field]}
            onValue={value => set({ [field]: value })}
            error={errorAt(field)}
            inputMode="decimal"
            autocomplete="off"
          />
        ))}
      </div>
      <Area
        label={words.further}
        hint={words.furtherHint}
        value={values.more}
        onValue={more => set({ more })}
        error={errorsOfMore}
        rows={5}
        mono
        spellcheck={false}
        placeholder={'{ "timeout": { "first_byte": "2m" }, "dialect": { "max_tokens_field": "max_tokens" } }'}
      />
    </details>
  )
}
