import type { SchemaException } from '../../schema.ts'

/* Deviations of the real service from the published schema of messages. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^ErrorResponse$/,
    fault: /^\/error\/type must be equal to one of the allowed values/,
    why: 'The schema lacks request_too_large, which the edge sends with 413, and types of newer errors.',
  },
  {
    schema: /^CreateMessageParams$/,
    fault: /^\/messages\/#\/role /,
    why: 'A turn of the role system may come among the messages.',
  },
  {
    schema: /^CreateMessageParams$/,
    fault: /^ must NOT have additional properties \{"additionalProperty":"output_format"\}/,
    why: 'The name of output_config.format in the beta of structured outputs, which is still accepted.',
  },
  {
    schema: /^MessageStreamEvent$/,
    fault: /^\/usage must have required property '(input_tokens|cache_creation_input_tokens|cache_read_input_tokens)'/,
    why: 'The publisher’s own examples of message_delta have output_tokens alone.',
  },
  {
    schema: /^Message$|^MessageStreamEvent$/,
    fault:
      /^(\/message)?(\/content\/#|\/content_block|\/usage|\/delta)? must have required property '(cache_creation_input_tokens|cache_read_input_tokens|citations|container|stop_details|cache_creation|inference_geo|output_tokens_details|server_tool_use|service_tier|caller)'/,
    why: 'The schema requires fields that are null where there is nothing to say; recorded answers, and the SDK’s own mock data, leave them out.',
  },
  {
    schema: /^Message$|^MessageStreamEvent$/,
    fault:
      /must have required property '(web_fetch_requests|web_search_requests)'|\/content must have required property 'citations'/,
    why: 'Counts and lists of hosted tools that were not used are left out.',
  },
  {
    schema: /^Message$|^MessageStreamEvent$/,
    fault: /^\/content(\/#|_block)\/type must be equal to one of the allowed values/,
    why: 'Beta features have blocks of their own: mcp_tool_use, mcp_tool_result.',
  },
]
