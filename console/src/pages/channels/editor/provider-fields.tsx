import type { Provider, ProviderField } from '../../../api/types.ts'
import { Area, Field, Select } from '../../../ui/field.tsx'
import { text } from '../texts.ts'
import type { Editor } from './use-editor.ts'
import { type KeptSecret, pathsOf } from './values.ts'

interface ProviderFieldsProps {
  readonly editor: Editor
  readonly provider: Provider
}

/** The fields that channels of a provider have, and the choice of how they sign in. */
export function ProviderFields({ editor, provider }: ProviderFieldsProps) {
  const words = text().editor
  const { values, set } = editor
  return (
    <>
      {provider.auth.length > 0 && (
        <Select
          label={words.signIn}
          value={values.auth}
          onValue={auth => set({ auth })}
          options={[
            ...(provider.keyless ? [] : [{ value: '', label: words.byKey }]),
            ...provider.auth.map(({ type }) => ({ value: type, label: words.auths[type] ?? type })),
          ]}
        />
      )}
      <div class="grid-2">
        {pathsOf(provider, values.auth).map(([path, field]) => (
          <OneField key={`${provider.name} ${path}`} editor={editor} path={path} field={field} />
        ))}
      </div>
    </>
  )
}

interface OneFieldProps {
  readonly editor: Editor
  readonly path: string
  readonly field: ProviderField
}

function OneField({ editor, path, field }: OneFieldProps) {
  const { values, setField, errorAt } = editor
  const kept = values.kept[path]
  const common = {
    label: text().editor.fields[field.name] ?? field.name.replaceAll('_', ' '),
    hint: hintOf(field, kept),
    value: values.fields[path] ?? '',
    onValue: (value: string) => setField(path, value),
    error: errorAt(path),
    spellcheck: false,
  }
  // A key file has many lines.
  if (field.name === 'account') return <Area {...common} rows={4} mono placeholder={masked(kept)} />
  return (
    <Field
      {...common}
      type={field.secret ? 'password' : 'text'}
      autocomplete={field.secret ? 'new-password' : 'off'}
      required={field.required && kept === undefined}
      placeholder={field.secret ? masked(kept) : field.default}
    />
  )
}

/** Placeholder in the field of a stored secret: its last characters. The secret itself is never shown. */
const masked = (kept: KeptSecret | undefined): string | undefined =>
  kept === undefined ? undefined : `••••••••${kept.last_four}`

/** Says that a stored secret stays, or which environment variable the gateway would use. */
function hintOf({ env = [], required }: ProviderField, kept: KeptSecret | undefined): string | undefined {
  const words = text().editor
  if (kept !== undefined) return words.kept
  const set = env.find(one => one.set)
  if (set !== undefined) return words.fromEnv(set.name)
  if (env.length > 0 && !required) return words.optionalEnv(env[0]!.name)
  return required ? undefined : words.optional
}
