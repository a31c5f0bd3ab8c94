/** Packages of the clients, and the installed packages of each, in versions that were current in November 2026. */
export const VERSIONS = {
  'claude-code': {
    '@anthropic-ai/claude-code': '2.1.332',
  },
  codex: {
    '@openai/codex': '0.171.0',
  },
  'gemini-cli': {
    '@google/gemini-cli': '0.61.0',
  },
  opencode: {
    'opencode-ai': '1.18.33',
  },
  'qwen-code': {
    '@qwen-code/qwen-code': '0.24.4',
  },
  copilot: {
    '@github/copilot': '1.0.102',
  },
  python: {
    openai: '3.54.0',
    anthropic: '2.12.0',
    'google-genai': '2.34.0',
    'langchain-openai': '1.7.3',
    'langchain-anthropic': '1.7.7',
    'langchain-google-genai': '4.4.2',
    'pydantic-ai-slim[openai,anthropic,google]': '2.68.0',
  },
  'aws-python': {
    boto3: '1.44.8',
    'strands-agents': '1.62.0',
    'langchain-aws': '1.9.1',
  },
  'cohere-py': {
    cohere: '7.3.1',
  },
  'cohere-js': {
    'cohere-ai': '8.1.0',
  },
  mistral: {
    mistralai: '3.7.0',
  },
  litellm: {
    litellm: '1.106.2',
    // Imported by every module with tools, but not declared as a dependency.
    mcp: '2.3.0',
  },
  // Without its extra for Google, which installs all of Vertex AI.
  'semantic-kernel': {
    'semantic-kernel': '1.45.0',
    anthropic: '0.125.0',
    'google-genai': '2.22.0',
  },
  pi: {
    '@mariozechner/pi-coding-agent': '0.73.1',
  },
  agno: {
    agno: '3.1.10',
    openai: '3.57.0',
    anthropic: '2.14.0',
    'google-genai': '3.6.1',
  },
  go: {
    'github.com/openai/openai-go/v3': 'v3.96.0',
    'github.com/anthropics/anthropic-sdk-go': 'v1.84.0',
    'google.golang.org/genai': 'v1.77.0',
  },
  java: {
    'com.openai:openai-java': '4.101.0',
    'com.anthropic:anthropic-java': '3.12.0',
    'com.google.genai:google-genai': '2.0.0',
  },
  rust: {
    'async-openai': '0.43.0',
    genai: '0.7.2',
    // The newest version that Rust 1.95 compiles.
    'rig-core': '0.44.0',
    tokio: '1.54.1',
    futures: '0.3.34',
    serde: '1.0.229',
    serde_json: '1.0.154',
  },
  'ai-sdk-6': {
    ai: '6.0.326',
    '@ai-sdk/openai': '3.0.141',
    '@ai-sdk/openai-compatible': '2.0.87',
    '@ai-sdk/anthropic': '3.0.138',
    '@ai-sdk/google': '3.0.141',
  },
  'ai-sdk-7': {
    ai: '7.0.173',
    '@ai-sdk/openai': '4.0.118',
    '@ai-sdk/openai-compatible': '3.0.92',
    '@ai-sdk/anthropic': '4.0.105',
    '@ai-sdk/google': '4.0.121',
  },
  'ai-sdk-vendors': {
    ai: '6.0.326',
    '@ai-sdk/amazon-bedrock': '4.0.186',
    '@ai-sdk/deepseek': '2.0.69',
    '@ai-sdk/groq': '3.0.71',
    '@ai-sdk/mistral': '3.0.69',
    '@ai-sdk/xai': '3.0.138',
    '@openrouter/ai-sdk-provider': '2.10.0',
  },
  'clouds-js': {
    '@aws-sdk/client-bedrock-runtime': '3.1164.0',
    '@smithy/node-http-handler': '4.14.2',
    '@anthropic-ai/bedrock-sdk': '1.1.3',
    '@anthropic-ai/vertex-sdk': '1.1.3',
    '@anthropic-ai/foundry-sdk': '1.1.1',
  },
  'langchain-js': {
    '@langchain/core': '1.4.0',
    '@langchain/openai': '1.6.0',
    '@langchain/anthropic': '1.5.11',
    '@langchain/google-genai': '2.3.2',
  },
  'openai-agents': {
    '@openai/agents': '0.20.0',
    openai: '7.59.0',
    zod: '4.6.7',
  },
} as const

export type Package = keyof typeof VERSIONS

/** Versions by name. */
export type Pinned = { readonly [name: string]: string }
