/** Chinese meanings of the flags of dialects, by name. */
export const FLAGS: { readonly [flag: string]: string } = {
  reasoning_field:
    '将助手早先轮次的推理送回上游所用的字段；`parts`：作为内容中的 `thinking` 部分；默认 `none`。设有字段时，网关还会恢复原生调用方已丢失的推理',
  reasoning_demanded:
    '拒绝没有推理内容的助手轮次（chat：从首次工具调用起；messages：含调用的轮次）：推理内容未知时，chat 发送一个空格，messages 发送 `tool call`；默认 false',
  reasoning_as:
    '设置推理所用的字段：默认 `reasoning_effort`；`reasoning` 用于 OpenRouter；`thinking` 用于 DeepSeek、Z.AI、Kimi 和 MiniMax（若 `efforts` 有值，还会附强度）；`enable_thinking` 及 `thinking_budget` 用于 Qwen；`chat_template_kwargs` 用于 vLLM 和 SGLang。设置后，原生调用方请求中其他厂商的开关会被转换为它',
  forced_while_thinking:
    '推理时接受强制调用工具的选择；默认 true；为 false 时，为此类请求关闭推理；若调用方要求推理或模型总是推理，则不强制调用',
  thinking_on: '开启 `thinking` 时的类型；默认 `enabled`',
  thinking_off:
    '关闭推理的方式：默认 `disabled`；`never`：无法关闭推理，改为请求最低强度（contents：最低预算）；`refused`（messages）：同 `never`，并省略原生调用方的 `disabled`；Kimi K2.7 Code、K3 和 GLM 5.3 默认如此',
  whole_thinking: '推理后能以完整应答返回；默认 true；为 false 时，网关为需要完整应答的其他格式调用方从流中收集应答',
  thinks_by_default: '除非另有要求，否则会推理；QwQ、QVQ、Qwen Omni 和 Qwen3 的开放模型默认 true',
  functions_while_thinking:
    '推理时可以接受函数；默认 true，OpenAI 和 Azure 的 GPT-5.4 及以后为 false；为 false 时，除非通道能以 Responses 发送，否则带函数的请求会关闭推理',
  reasoning_split: '为其他格式的调用方发送 `reasoning_split: true`，使上游将推理与文本分开；默认 false',
  cache:
    '上游遵守的缓存标记；messages：`auto` 让 Claude 缓存无法设置标记的调用方的请求（工具、系统文本、至今的对话）；Anthropic 的模型默认 `auto`，其他默认 `off`',
  images:
    '接受用户轮次和工具结果中的图像；否则以文字说明代替；默认 true；已知只接受文本的模型（DeepSeek V4 Pro 及 V4 之前的模型、GLM-5.2 及更早的模型、MiniMax M2、K2.5 之前的 Kimi K2、gpt-oss）为 false',
  files:
    '接受来自其他格式调用方的文件（如 PDF）；否则以文字说明代替，文本文件则以其文本代替；默认 true；DeepSeek 和阿里云为 false',
  custom_tools: '接受 `custom` 类型的工具；默认 true，否则写成函数',
  developer_role: '接受 `developer` 角色；默认 true，否则写成 `system`',
  namespaces:
    '接受工具的命名空间、含工具的条目、工具搜索以及搜索的 `external_web_access`；默认 true；`stateless` 的上游从不收到命名空间和含工具的条目',
  hosted_tools:
    '上游为其他格式的调用方运行的托管工具：`all`（网络搜索、网页获取、代码执行）、仅网络搜索（`search`）或无（`none`）；其余会省略；默认 `all`，Google Cloud 上的 Claude 为 `search`，Bedrock 和 Foundry 上的 Claude 为 `none`',
  tool_choices:
    '接受的工具选择：`all`（默认）、`one`（模式或一个函数；OpenAI 以外的供应商）、`modes`（`auto`、`required`、`none`；LM Studio 和 llama.cpp）或都不接受（`none`，Ollama）；其他选择只提供其允许的工具',
  json_object:
    '接受类型为 `json_object` 的 `response_format`；默认 true，LM Studio 为 false；为 false 时写成任意对象的模式',
  chat_templates:
    '运行模型自带的对话模板（如 llama.cpp、LM Studio、Ollama 和 vLLM）：其他格式的调用方得到 `system_turns: false` 和 `joined_turns: true`，原生调用方仅在已知模板有此要求的模型（Qwen 3.5 及以后、Mistral、Gemma）上如此；Mistral 的模型还得到 `after_tools: assistant` 和 `call_ids: short`；默认 false',
  joined_turns: '拒绝连续的用户轮次，因此合并为一轮；默认 false，或由 `chat_templates` 决定',
  limit_field: '输出上限的字段名',
  old_limit:
    '接受原生调用方的 `max_tokens`；默认 true；为 false 时改写为 `max_completion_tokens`（OpenAI 的推理模型要求如此）',
  include_usage: '网关在每个流中请求用量，使词元计入限额',
  text_only_content: '`string`：文本以字符串而非部分列表传递',
  json_schema:
    '接受带模式的 `response_format`，或 `output_config.format`、`textFormat`；默认 true；Foundry 中的 Claude 以及 Bedrock 上拒绝它的模型（4.5 和 4.6 以外的 Claude、Nova、Llama、GPT、Grok、较早的 Mistral）为 false，此时用文字请求符合模式的 JSON',
  store: '接受 `store`；默认 true',
  call_ids: '`short`：工具调用 ID 必须为九个字母和数字，网关会改写；默认 `any`',
  odd_arguments:
    '接受参数不是 JSON 对象的调用（如被截断应答中的调用）；默认 true，MiniMax 和本机服务器为 false；为 false 时将其包装成对象',
  empty_calls:
    '接受模型轮次中空的 `tool_calls`（其他厂商会这样应答）；默认 true，OpenAI 和 Azure OpenAI 默认 false；为 false 时省略',
  call_signatures: '接受调用旁 Google 的签名（`extra_content`），其他格式的调用方因此能将其送回；默认 false',
  signed_turns:
    '拒绝首段文本或图像没有签名的模型轮次，因此来自别处的轮次会带上跳过检查的标记；默认 false，Gemini 3 及以后的图像模型默认 true',
  result_media:
    '工具结果中可以包含媒体；否则媒体会在结果之后的用户轮次中发送；默认 true，Gemini 2.5 及更早的模型，以及 Converse 上 Claude、Nova 和 Llama 以外的模型默认 false；chat：来自其他格式的请求从不在结果中包含媒体，false（OpenAI 和 Azure OpenAI）时原生调用方的媒体也会移出',
  after_tools:
    '`assistant`：工具消息之后只能是助手消息，因此会插入一条，其后的 system 消息改为用户消息；`no_files`（Converse 上的 Claude）：在文档和视频之前插入一条；默认 `anyone`',
  video: '接受 `video_url` 部分',
  suffix:
    '接受 `suffix`；默认 true，vLLM 和 llama.cpp 为 false；为 false 时以模型的中间填充词元写入提示词（Qwen、DeepSeek、Codestral、StarCoder、Granite、CodeGemma、Code Llama），其他模型则不带后缀',
  prompts: '每个请求的提示词：多个（`many`，默认）或一段文本（`one`；Together 和 Ollama），此时每个提示词单独发送',
  request_fields:
    '`mistral`：不发送 Mistral 不认识的字段（它会拒绝这些字段），并以 `random_seed` 发送 `seed`；`groq`、`cerebras`、`xai`、`fireworks`、`nvidia`、`azure`（其他厂商的模型）和 `ark`（火山方舟）：不发送这些厂商拒绝的 OpenAI 字段（如 `verbosity` 和 `metadata`）；默认 `any`',
  document_url: '接受以 URL 给出的文件（`document_url` 部分）；否则先取得文件，再作为 `file` 部分发送',
  efforts: '支持的强度，由弱到强',
  effort_field:
    '`additionalModelRequestFields` 中设置推理的字段：默认为 Claude 的 `thinking`；`reasoning_effort` 用于 gpt-oss、DeepSeek 和 GLM；`reasoning` 用于 GPT 和 Grok；`reasoning_config` 用于 Qwen；`reasoningConfig` 用于 Nova 2',
  streamed_tools: '可流式应答带工具的请求；默认 true；Llama 和 Mistral 的旧模型为 false，此时请求完整应答',
  named_tools: '接受指定某个工具的工具选择；默认 true；为 false 时只提供该工具',
  tool_cache_points: '接受工具之间的缓存点；默认 true；Nova 为 false',
  plain_schemas:
    '工具的 schema 顶层只有 `type`、`properties` 和 `required`，且没有引用；Nova 默认为 true，因为它拒绝顶层的其他关键字',
  signatures:
    '发回哪些带签名的推理：全部（`any`，默认）、仅隐藏的推理（`hidden`，GPT 和 Grok）或都不发回（`none`，Claude 以外的其他模型），因为它们拒绝对话中先前模型的签名',
  json_with_tools: '可以同时接受 `response_format` 和工具；默认 true；为 false 时改用文字要求 JSON',
  schemas:
    '`current`：工具的模式符合 2020-12 草案；`grammar`：工具和应答的模式不含 1000 及以上的界限，也不含 llama.cpp 无法编译的 pattern 和引用；`groq`：有必填名称的对象都有 `properties`；`kimi`：工具和应答的模式写成 Kimi 接受的子集，工具名以字母开头；`xai`：模式不含 `pattern`、`format`，`enum` 中不含斜杠；默认 `any`',
  argument_names:
    '`plain`：工具参数名最多 64 个字母、数字、`_`、`.` 和 `-`；其他参数以文字描述，其工具不严格；默认 `any`，Claude 为 `plain`',
  parallel_switch: '接受 `parallel_tool_calls`；默认 true；OpenAI 的 o 系列为 false',
  strict_tools:
    '接受工具的 `strict`；chat 和 messages 默认 true；converse 默认 false；Bedrock 上只有 Claude 4.5 和 4.6 为 true，其他模型会拒绝该字段',
  cache_times: '接受缓存点的时长；默认 true；Nova 和 4.5 之前的 Claude 为 false',
  stateless: '不保存应答；所有状态由网关保存',
  summaries: '为其他格式的调用方写推理摘要；默认 true；未经 OpenAI 验证的组织为 false，因为它会拒绝',
  compaction: 'false：没有 `/responses/compact`，由网关以摘要压缩',
  count: 'false：没有词元计数接口，由网关估算',
  temperatures:
    '接受的温度：默认 `any`；`to_1`：0 到 1；`above_0`：大于 0、至多 1；两者都不接受为 0 的 `top_p`；超出范围时发送最接近的值',
  sampling:
    '接受哪些采样参数；messages 和 converse：全部（`all`）、temperature 与 top_p 只接受其一（`one`）或都不接受（`none`）；chat 和 responses：temperature、top_p 和 logprobs 总是接受（`all`）、未请求强度时接受（`unless_thinking`）、仅在强度为 `none` 时接受（`while_off`）或从不接受（`none`）；默认按模型系列，否则 `all`',
  penalties: '接受惩罚参数和 `logit_bias`；默认 true；OpenAI 和 Grok 的推理模型以及 Gemini 2.5 及以后为 false',
  stop: '接受停止序列；默认 true；OpenAI 和 Grok 的推理模型为 false',
  verbosity: '接受详细程度；默认 true；OpenAI 在 GPT-5 之前的模型为 false',
  reasons: '接受推理的设置和条目；默认 true；不推理的模型（如 GPT-4）为 false',
  max_tokens: '词元数；未指定上限的请求所用的输出上限；默认为模型的最大输出，否则 32,000',
  max_output: '词元数；模型的最大输出；请求中更高的上限会降到此值',
  listed_output: '词元数；目录中的最大输出；请求中更高的上限原样发送',
  version:
    'messages：`anthropic-version` 请求头：日期，或 `caller` 表示各调用方自己的版本；默认 `2023-06-01`。自 `2026-10-21` 起，不发送 temperature、top_p、top_k、助手轮次中的文档和用户轮次中的引用。live：路径中的 API 版本；默认 `v1beta`，启用 `vertex` 时为 `v1beta1`',
  key_as:
    '发送密钥的方式：`x-api-key` 请求头、bearer 令牌，或按所发版本的 SDK 的方式（`version`：自 2026-10-21 起为 bearer）；默认 `x-api-key`，除非预设另有规定',
  system_tools:
    '有用于网页搜索的 `nova_grounding` 和用于代码的 `nova_code_interpreter`：具有 `bedrock:InvokeTool` 权限的账户中的 Nova 2',
  system_turns:
    '接受对话中的 `system` 轮次；默认 true；为 false 时其角色改为 `user`；chat：开头的系统消息合并为一条，Qwen 3.5 及以后默认 false',
  thinking:
    '请求推理的方式；messages 和 converse：由模型决定（`adaptive`）、按预算（`budget`）、两者皆可（`both`，默认）或不请求（`none`）；contents：按级别（`level`）、按预算、两者皆可（`both`，默认）或不请求；默认按模型系列',
  min_budget: '词元数；最低推理预算；请求中更低的预算会升到此值',
  max_budget: '词元数；最高推理预算；请求中更高的预算会降到此值',
  logprobs: '接受对数概率的请求；默认 true；Gemini 2.5 及以后（Vertex AI：3 及以后）为 false',
  candidates: '接受多个应答的请求；默认 true；Gemini 3 及以后（Vertex AI 除外）和图像模型为 false',
  json: '何时可以请求 JSON 应答；否则以文字要求模型；默认 `always`；Gemini 3 之前为 `without_tools`；Gemma 4 之前和较早的图像模型为 `never`',
  system: '接受系统指令；为 false 时指令作为用户轮次放在对话开头；默认 true；Gemma 4 之前为 false',
  effort_while_off: '关闭推理时也接受强度；默认 true',
  bound_proofs: '推理块之前有任何变化时拒绝其签名；因此只有在之前毫无变化时，才恢复调用方未送回的推理；默认 false',
  forced_tools: '接受强制调用工具的选择；默认 true',
  prefill: '续写最后的助手轮次；默认 true，否则添加用户轮次 "Continue."',
  custom_type: '接受工具的 `type: custom`；默认 true；为 false 时省略该类型，因为它是默认值',
  user_ids: '`word`：`metadata.user_id` 只接受字母、数字、`-` 和 `_`，其他值以其 SHA-256 代替；默认 `any`',
  threads: '为原生调用方保存对话（`thread`）；默认 false',
  preview_fields:
    '接受任何预览功能的字段（`context_management`、`mcp_servers`、`speed`、工具的 `defer_loading`）；默认 true；Bedrock 和 Google Cloud 上的 Claude 为 false：此时只有当通道的 `betas` 传递其 beta 时才发送该字段',
  bedrock:
    '以 Bedrock 的 InvokeModel 提供 Claude，只有 Claude 4.5 和 4.6 接受严格的工具和答案的模式；预设 `bedrock-invoke` 默认 true',
  service_tiers: '接受 `service_tier`；默认 true；InvokeModel 和 Google Cloud 为 false',
  vertex:
    'Google 的云 API：接受标签、文件名和排除的域名，但不接受调用 ID，且每个请求只嵌入一项；live：路径和模型名采用云端写法',
  schema: '模式的写法：JSON Schema（默认），或较旧的 OpenAPI 子集',
  fetch_urls:
    '不接受其他主机上图像和文件的 URL：由网关取得（chat、responses 和 messages：原生调用方的也如此）；默认 false；Ollama 以及 Bedrock 和 Google Cloud 上的 Claude 为 true',
  voices: '调用方所用名称对应的上游声音；设置后不提供其他声音',
  default_voice: '未指定声音的请求所用的上游声音',
  batch: '每个请求的最多输入数；更大的请求会拆分，应答再合并',
  cache_points: '接受缓存点；Nova 和 3.5 Haiku 起的 Claude 默认 true',
  batch_tokens: '每个请求所有输入的最多 token 数，由网关偏高估算；更大的请求会拆分，应答再合并',
  tokens: '接受以 token id 表示的输入；默认 true；为 false 时，网关按词表 cl100k_base 写出其文本',
  top_k: '在模型字段中接受 `top_k`；Anthropic 的模型默认 true',
  thinks: '接受推理设置和早先轮次的推理；Command A Reasoning 和 Command A+ 默认 true',
  dimensions_field: '向量长度的字段名；`none` 表示长度不可选择',
  encoding_field: '向量编码的字段名',
  float_encoding: '接受 `float` 编码；默认 true，否则省略该字段以得到数字',
  wav_only: '仅返回 WAV 文件，由网关转换为 MP3 和原始采样；默认 false',
  speech_fields: '请求的字段：`openai`（默认），或 `mistral`：`voice_id`，无指令和语速，原始采样由网关从 WAV 文件生成',
  raw_samples: '原始采样的名称：`pcm`（默认），或 `raw`（Together），并同时写明编码和采样率',
  transcript_fields:
    '表单字段：任意（`any`，默认），或仅某一厂商的字段，该厂商会拒绝或忽略其余字段；`groq` 的列表字段名带方括号',
  transcript_events: '流式发送事件；默认 true；为 false 时请求完整应答，由网关生成事件',
  base64_encoding: '接受 `base64` 编码；默认 true；为 false 时省略该字段，由网关对数字进行编码',
  purpose_field: '向量用途的字段名',
  default_purpose: '未说明用途的请求所用的用途，供拒绝这类请求的上游（如 NVIDIA NIM）使用',
  document_word: '`input_type` 中表示文档向量的词；NVIDIA NIM 为 `passage`',
  image_input: '可嵌入图像',
  end_user: '接受 `user`；默认 true',
  top_field: '返回名次数量的字段名',
  documents: '`text`：文档必须是纯字符串，不能是对象',
  edits:
    '发送待编辑图像的方式：`any`（默认）按调用方的方式；`form` 只以表单文件：JSON 中的图像会先取得或解码；`urls` 只以 JSON 中的 URL；以下各值在 `/images/generations` 以 URL 发送：`image` 放入 `image`，`numbered` 放入 `image`、`image2` 等，`image_url` 放入 `image_url`，多张放入 `reference_images`；`input_references` 在 `/images` 放入 `input_references`，该处也生成图像（OpenRouter）',
  picture_urls: '接受图像 URL；默认 true，否则先取得图像，再以字节发送',
  size_field:
    '尺寸字段的名称；默认 `size`；`aspect_ratio`：宽高比与 `resolution`，无风格，质量只有 `low`、`medium`、`high`；`width`：`width` 与 `height`；`image_size`：`image_size`，图像数量为 `batch_size`',
  output_settings: '接受背景、格式、压缩、审核、保真度、未完成图像和流；默认 true',
  response_format: '默认返回 URL：为其他格式的调用方请求字节',
  gpt_image:
    '无论名称如何都提供 OpenAI 的 GPT 图像模型，既不接受风格也不接受 `response_format`；默认 false，Azure 为 true',
  bytes_word: '`response_format` 中表示字节的词；Together 为 `base64`；默认 `b64_json`，同格式调用方则保留原词',
  output_types: '生成图像的文件类型：`any`（默认），或只有 PNG 和 JPEG（`png_jpeg`）',
  speech_events: '以事件流返回；默认 true，否则网关由字节生成事件',
  transcript_shapes: '支持的应答格式：`all`；`json` 无字幕和说话人；`none` 仅 JSON',
  remix: '可用另一提示词再创作视频；默认 true',
  references: '视频可由哪些图像开始：`any`（默认）文件、URL 和 ID；`files` 只接受表单文件：其他图像会先取得',
  naming:
    '事件和字段的命名：OpenAI 正式发布后的（默认），或测试版的（Azure Voice Live），其上游收到 `OpenAI-Beta: realtime=v1`',
  layout: '会话字段的结构；`mixed` 是 xAI 的：格式位于 `audio` 之下，声音和轮次检测与其并列',
  item_done: '发送 `conversation.item.done`；默认 true',
  resumption: '在新连接上恢复会话，使其可超过单个连接的时限；默认 true',
  audio_only: '模型只说话：请求文本的调用方得到转写；`native-audio` 模型和 `gemini-3` 默认 true',
  late_text:
    '模型首次应答之后发送文本的方式：`clientContent`（默认），或 `realtimeInput`（3.8 以前的 `gemini-3` 默认）',
}
