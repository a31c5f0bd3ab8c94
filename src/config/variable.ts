/** Variables of the environment. */
export type Env = { readonly [name: string]: string | undefined }

/**
 * Returns the value of a variable without line ends behind it, which files and pipes leave, as the `$(…)` of a shell
 * does. Objects inherit names such as `constructor`, which are no variables.
 */
export function variableIn(env: Env, name: string): string | undefined {
  const value: unknown = env[name]
  return typeof value === 'string' ? value.replace(/(?<![\r\n])[\r\n]+$/, '') : undefined
}
