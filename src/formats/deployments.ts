/*
 * Paths of clients that are set up for Azure OpenAI, with the model in the path
 * (docs/wire/common.md#openais-paths-elsewhere).
 */

/** Matches the path of a deployment. Captures the deployment and the path below it. */
const DEPLOYMENT_PATH = /^\/openai\/deployments\/([^/]+)(\/.+)$/

/** The parts of a deployment's path. */
export interface DeployedModel {
  /** The deployment, exactly as spelled in the path. */
  readonly model: string
  readonly below: string
}

/** Returns the parts of a deployment's path, or undefined for any other path. */
export function deployedModel(path: string): DeployedModel | undefined {
  const [, model, below] = DEPLOYMENT_PATH.exec(path) ?? []
  return model === undefined ? undefined : { model, below: below! }
}

/** Paths below a deployment. All others of Azure OpenAI name the model in the body. */
export const DEPLOYED_PATHS: ReadonlySet<string> = new Set([
  ...['/chat/completions', '/completions', '/embeddings', '/images/generations', '/images/edits'],
  ...['/audio/speech', '/audio/transcriptions', '/audio/translations'],
])
