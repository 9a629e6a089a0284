# SPDX-License-Identifier: MIT
"""Keys of metadata, and the methods of a writer that add them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# A class and what its keys begin with; below it their names, with what follows
# in the key where that is not the name in small letters.
_KEYS = """
General general.
    TYPE ARCHITECTURE QUANTIZATION_VERSION ALIGNMENT FILE_TYPE
    SAMPLING_SEQUENCE=sampling.sequence SAMPLING_TOP_K=sampling.top_k
    SAMPLING_TOP_P=sampling.top_p SAMPLING_MIN_P=sampling.min_p
    SAMPLING_XTC_PROBABILITY=sampling.xtc_probability
    SAMPLING_XTC_THRESHOLD=sampling.xtc_threshold SAMPLING_TEMP=sampling.temp
    SAMPLING_PENALTY_LAST_N=sampling.penalty_last_n
    SAMPLING_PENALTY_REPEAT=sampling.penalty_repeat
    SAMPLING_MIROSTAT=sampling.mirostat
    SAMPLING_MIROSTAT_TAU=sampling.mirostat_tau
    SAMPLING_MIROSTAT_ETA=sampling.mirostat_eta NAME AUTHOR VERSION ORGANIZATION
    FINETUNE BASENAME DESCRIPTION QUANTIZED_BY SIZE_LABEL LICENSE
    LICENSE_NAME=license.name LICENSE_LINK=license.link URL DOI UUID REPO_URL
    SOURCE_URL=source.url SOURCE_DOI=source.doi SOURCE_UUID=source.uuid
    SOURCE_REPO_URL=source.repo_url BASE_MODEL_COUNT=base_model.count
    BASE_MODEL_NAME=base_model.{id}.name
    BASE_MODEL_AUTHOR=base_model.{id}.author
    BASE_MODEL_VERSION=base_model.{id}.version
    BASE_MODEL_ORGANIZATION=base_model.{id}.organization
    BASE_MODEL_DESCRIPTION=base_model.{id}.description
    BASE_MODEL_URL=base_model.{id}.url BASE_MODEL_DOI=base_model.{id}.doi
    BASE_MODEL_UUID=base_model.{id}.uuid
    BASE_MODEL_REPO_URL=base_model.{id}.repo_url DATASET_COUNT=dataset.count
    DATASET_NAME=dataset.{id}.name DATASET_AUTHOR=dataset.{id}.author
    DATASET_VERSION=dataset.{id}.version
    DATASET_ORGANIZATION=dataset.{id}.organization
    DATASET_DESCRIPTION=dataset.{id}.description DATASET_URL=dataset.{id}.url
    DATASET_DOI=dataset.{id}.doi DATASET_UUID=dataset.{id}.uuid
    DATASET_REPO_URL=dataset.{id}.repo_url TAGS LANGUAGES
LLM {arch}.
    VOCAB_SIZE CONTEXT_LENGTH EMBEDDING_LENGTH EMBEDDING_LENGTH_OUT
    FEATURES_LENGTH BLOCK_COUNT LEADING_DENSE_BLOCK_COUNT FEED_FORWARD_LENGTH
    EXPERT_FEED_FORWARD_LENGTH EXPERT_SHARED_FEED_FORWARD_LENGTH
    EXPERT_CHUNK_FEED_FORWARD_LENGTH USE_PARALLEL_RESIDUAL TENSOR_DATA_LAYOUT
    EXPERT_COUNT EXPERT_USED_COUNT EXPERT_SHARED_COUNT EXPERT_GROUP_COUNT
    EXPERT_GROUP_USED_COUNT EXPERT_WEIGHTS_SCALE EXPERT_WEIGHTS_NORM
    EXPERT_GATING_FUNC EXPERT_GROUP_SCALE EXPERT_LATENT_LENGTH EXPERTS_PER_GROUP
    MOE_EVERY_N_LAYERS MOE_LATENT_SIZE NEXTN_PREDICT_LAYERS
    NUM_DEEPSTACK_LAYERS=n_deepstack_layers DEEPSTACK_MAPPING POOLING_TYPE
    LOGIT_SCALE DECODER_START_TOKEN_ID DECODER_BLOCK_COUNT
    ATTN_LOGIT_SOFTCAPPING ROUTER_LOGIT_SOFTCAPPING FINAL_LOGIT_SOFTCAPPING
    SWIN_NORM RESCALE_EVERY_N_LAYERS TIME_MIX_EXTRA_DIM TIME_DECAY_EXTRA_DIM
    RESIDUAL_SCALE EMBEDDING_SCALE TOKEN_SHIFT_COUNT INTERLEAVE_MOE_LAYER_STEP
    FULL_ATTENTION_INTERVAL NUM_LOOPS SKIP_LOOP_FINAL_NORM HASH_LAYER_COUNT
    ACTIVATION_SPARSITY_SCALE ALTUP_ACTIVE_IDX=altup.active_idx
    ALTUP_NUM_INPUTS=altup.num_inputs
    EMBD_LENGTH_PER_LAYER_INP=embedding_length_per_layer_input SWIGLU_CLAMP_EXP
    SWIGLU_CLAMP_SHEXP HIDDEN_ACT=hidden_activation
    DENSE_FEAT_IN_SIZE={dense}_feat_in DENSE_FEAT_OUT_SIZE={dense}_feat_out
    TARGET_LAYERS TARGET_HIDDEN_SIZE BLOCK_SIZE CONV_KERNEL_SIZE CONV_GROUP_SIZE
    SELECTOR_RANK SELECTOR_TOP_K SAMPLE_FROM_ANCHOR HAS_CONFIDENCE_HEAD
    NORM_BEFORE_RESIDUAL NORM_BEFORE_FC
Adapters {arch}.adapters.
    COUNT TOKEN_IDS_ACTIVATE TOKEN_IDS_SUBSTITUTE LORA_RANK ROUTER_GAIN
Attention {arch}.attention.
    HEAD_COUNT HEAD_COUNT_KV MAX_ALIBI_BIAS CLAMP_KQV KEY_LENGTH VALUE_LENGTH
    LAYERNORM_EPS=layer_norm_epsilon LAYERNORM_RMS_EPS=layer_norm_rms_epsilon
    GROUPNORM_EPS=group_norm_epsilon GROUPNORM_GROUPS=group_norm_groups CAUSAL
    Q_LORA_RANK KV_LORA_RANK DECAY_LORA_RANK ICLR_LORA_RANK
    VALUE_RESIDUAL_MIX_LORA_RANK GATE_LORA_RANK
    REL_BUCKETS_COUNT=relative_buckets_count SLIDING_WINDOW SCALE
    OUTPUT_GROUP_COUNT OUTPUT_LORA_RANK OUTPUT_SCALE VALUE_SCALE COMPRESS_RATIOS
    COMPRESS_ROPE_FREQ_BASE TEMPERATURE_LENGTH KEY_LENGTH_MLA VALUE_LENGTH_MLA
    KEY_LENGTH_SWA VALUE_LENGTH_SWA KEY_LENGTH_MLA_SWA VALUE_LENGTH_MLA_SWA
    KV_LORA_RANK_SWA SHARED_KV_LAYERS SLIDING_WINDOW_PATTERN RECURRENT_LAYERS
    TEMPERATURE_SCALE ROPE_PATTERN
Attention.Indexer {arch}.attention.indexer.
    HEAD_COUNT KEY_LENGTH TOP_K BLOCK_SIZE LOCAL_BLOCKS TYPES
HyperConnection {arch}.hyper_connection.
    COUNT SINKHORN_ITERATIONS EPSILON MAGNITUDE LOW_RANK
PerLayerEmbedding {arch}.ple.
    LAYERS NGRAM_SIZE HEADS_PER_NGRAM CONV_KERNEL LAYER_MULTIPLIERS HEAD_OFFSETS
    HEAD_VOCAB_SIZES EOS_TOKEN_ID IMAGE_TOKEN_ID
Rope {arch}.rope.
    DIMENSION_COUNT DIMENSION_COUNT_SWA DIMENSION_SECTIONS FREQ_BASE
    FREQ_BASE_SWA SCALING_TYPE=scaling.type SCALING_FACTOR=scaling.factor
    SCALING_ALPHA=scaling.alpha SCALING_ATTN_FACTOR=scaling.attn_factor
    SCALING_ORIG_CTX_LEN=scaling.original_context_length
    SCALING_FINETUNED=scaling.finetuned
    SCALING_YARN_LOG_MUL=scaling.yarn_log_multiplier
    SCALING_YARN_EXT_FACTOR=scaling.yarn_ext_factor
    SCALING_YARN_ATTN_FACTOR=scaling.yarn_attn_factor
    SCALING_YARN_BETA_FAST=scaling.yarn_beta_fast
    SCALING_YARN_BETA_SLOW=scaling.yarn_beta_slow
Activation {arch}.activation.
    SITU_BETA SITU_LINEAR_BETA
AttnRes {arch}.attn_res.
    BLOCK_SIZE
Split split.
    LLM_KV_SPLIT_NO=no LLM_KV_SPLIT_COUNT=count
    LLM_KV_SPLIT_TENSORS_COUNT=tensors.count
HRM {arch}.hrm.
    LAYERS_PER_STACK H_CYCLES L_CYCLES PREFIX_LM
SSM {arch}.ssm.
    CONV_KERNEL INNER_SIZE STATE_SIZE TIME_STEP_RANK GROUP_COUNT DT_B_C_RMS
KDA {arch}.kda.
    HEAD_DIM SAFE_GATE GATE_LOWER_BOUND
WKV {arch}.wkv.
    HEAD_SIZE
PosNet {arch}.posnet.
    EMBEDDING_LENGTH BLOCK_COUNT
ConvNext {arch}.convnext.
    EMBEDDING_LENGTH BLOCK_COUNT
Classifier {arch}.classifier.
    OUTPUT_LABELS
ShortConv {arch}.shortconv.
    L_CACHE
Tokenizer tokenizer.
    MODEL=ggml.model PRE=ggml.pre LIST=ggml.tokens TOKEN_TYPE=ggml.token_type
    TOKEN_TYPE_COUNT=ggml.token_type_count SCORES=ggml.scores MERGES=ggml.merges
    BOS_ID=ggml.bos_token_id EOS_ID=ggml.eos_token_id EOT_ID=ggml.eot_token_id
    EOM_ID=ggml.eom_token_id UNK_ID=ggml.unknown_token_id
    SEP_ID=ggml.seperator_token_id PAD_ID=ggml.padding_token_id
    MASK_ID=ggml.mask_token_id ADD_BOS=ggml.add_bos_token
    ADD_EOS=ggml.add_eos_token ADD_SEP=ggml.add_sep_token
    ADD_PREFIX=ggml.add_space_prefix
    REMOVE_EXTRA_WS=ggml.remove_extra_whitespaces
    PRECOMPILED_CHARSMAP=ggml.precompiled_charsmap
    SUPPRESS_TOKENS=ggml.suppress_tokens HF_JSON=huggingface.json
    RWKV=rwkv.world CHAT_TEMPLATE CHAT_TEMPLATE_N=chat_template.{name}
    CHAT_TEMPLATES NORMALIZER_LOWERCASE=ggml.normalizer.lowercase
    NORMALIZER_STRIP_ACCENTS=ggml.normalizer.strip_accents
    FIM_PRE_ID=ggml.fim_pre_token_id FIM_SUF_ID=ggml.fim_suf_token_id
    FIM_MID_ID=ggml.fim_mid_token_id FIM_PAD_ID=ggml.fim_pad_token_id
    FIM_REP_ID=ggml.fim_rep_token_id FIM_SEP_ID=ggml.fim_sep_token_id
    PREFIX_ID=ggml.prefix_token_id SUFFIX_ID=ggml.suffix_token_id
    MIDDLE_ID=ggml.middle_token_id
Adapter adapter.
    TYPE LORA_ALPHA=lora.alpha LORA_TASK_NAME=lora.task_name
    LORA_PROMPT_PREFIX=lora.prompt_prefix
    ALORA_INVOCATION_TOKENS=alora.invocation_tokens
IMatrix imatrix.
    CHUNK_COUNT CHUNK_SIZE DATASETS
Clip clip.
    PROJECTOR_TYPE HAS_VISION_ENCODER HAS_AUDIO_ENCODER HAS_GEN_AUDIO_ENCODER
    HAS_LLAVA_PROJECTOR
ClipVision clip.
    PROJECTOR_TYPE=vision.projector_type IMAGE_SIZE=vision.image_size
    IMAGE_MIN_PIXELS=vision.image_min_pixels
    IMAGE_MAX_PIXELS=vision.image_max_pixels
    PREPROC_MIN_TILES=vision.preproc_min_tiles
    PREPROC_MAX_TILES=vision.preproc_max_tiles
    PREPROC_IMAGE_SIZE=vision.preproc_image_size PATCH_SIZE=vision.patch_size
    EMBEDDING_LENGTH=vision.embedding_length
    FEED_FORWARD_LENGTH=vision.feed_forward_length
    PROJECTION_DIM=vision.projection_dim BLOCK_COUNT=vision.block_count
    IMAGE_MEAN=vision.image_mean IMAGE_STD=vision.image_std
    SPATIAL_MERGE_SIZE=vision.spatial_merge_size
    EXPERT_COUNT_PER_LAYER=vision.expert_count_per_layer
    EXPERT_USED_COUNT=vision.expert_used_count USE_GELU USE_SILU
    N_WA_PATTERN=vision.n_wa_pattern WA_LAYER_INDEXES=vision.wa_layer_indexes
    WA_PATTERN_MODE=vision.wa_pattern_mode
    IS_DEEPSTACK_LAYERS=vision.is_deepstack_layers
    WINDOW_SIZE=vision.window_size FEATURE_LAYERS=vision.feature_layer
    IMAGE_GRID_PINPOINTS=vision.image_grid_pinpoints
ClipVision.Attention clip.vision.attention.
    HEAD_COUNT HEAD_COUNT_KV HEAD_DIM LAYERNORM_EPS=layer_norm_epsilon
ClipVision.Projector clip.vision.projector.
    SCALE_FACTOR QUERY_SIDE WINDOW_SIDE SPATIAL_OFFSETS
ClipVision.SAM clip.vision.sam.
    BLOCK_COUNT EMBEDDING_LENGTH HEAD_COUNT
ClipAudio clip.audio.
    PROJECTOR_TYPE NUM_MEL_BINS EMBEDDING_LENGTH FEED_FORWARD_LENGTH
    PROJECTION_DIM BLOCK_COUNT SUBSAMPLING_FACTOR CHUNK_SIZE CONV_KERNEL_SIZE
    MAX_POS_EMB FEATURE_LAYERS=feature_layer
    RVQ_NUM_QUANTIZERS=rvq.num_quantizers RVQ_CODEBOOK_SIZE=rvq.codebook_size
    WA_PATTERN_MODE WINDOW_SIZE LOCAL_BLOCK_COUNT LOCAL_GROUP_SIZE
ClipAudio.Attention clip.audio.attention.
    HEAD_COUNT LAYERNORM_EPS=layer_norm_epsilon
ClipAudio.Projector clip.audio.projector.
    STACK_FACTOR WINDOW_SIZE DOWNSAMPLE_RATE HEAD_COUNT
ClipGenAudio clip.gen.audio.
    PROJECTOR_TYPE MODEL_VARIANT EMBEDDING_LENGTH FEED_FORWARD_LENGTH
    BLOCK_COUNT PROJECTION_DIM
ClipGenAudio.Attention clip.gen.audio.attention.
    HEAD_COUNT HEAD_COUNT_KV LAYERNORM_EPS=layer_norm_epsilon
Diffusion diffusion.
    SHIFT_LOGITS
xIELU xielu.
    ALPHA_P ALPHA_N BETA EPS
"""

# A class of keys, the type of their values, and what the methods begin with
# after "add_"; below it the methods, with the key where that is another.  A "/"
# is before what does not begin so.
_ADDS = """
General array
    tags languages
General f32
    sampling_top_p sampling_min_p sampling_xtc_probability
    sampling_xtc_threshold sampling_temp sampling_penalty_repeat
    sampling_mirostat_tau sampling_mirostat_eta
General i32
    sampling_top_k sampling_penalty_last_n sampling_mirostat
General string
    type sampling_sequence name author version organization finetune basename
    description quantized_by size_label license license_name license_link url
    doi uuid repo_url source_url source_doi source_uuid source_repo_url
    base_model_name base_model_author base_model_version base_model_organization
    base_model_description base_model_url base_model_doi base_model_uuid
    base_model_repo_url dataset_name dataset_author dataset_version
    dataset_organization dataset_description dataset_url dataset_doi
    dataset_uuid dataset_repo_url
General u32
    quantization_version file_type base_model_count dataset_count
LLM array
    activation_sparsity_scale swiglu_clamp_exp swiglu_clamp_shexp target_layers
    deepstack_mapping
LLM bool
    parallel_residual=use_parallel_residual expert_weights_norm swin_norm
    skip_loop_final_norm sample_from_anchor has_confidence_head
    norm_before_residual norm_before_fc
LLM f32
    logit_scale attn_logit_softcapping router_logit_softcapping
    final_logit_softcapping expert_weights_scale expert_group_scale
    residual_scale embedding_scale
LLM string
    tensor_data_layout hidden_act
LLM u32
    vocab_size context_length embedding_length embedding_length_out
    features_length block_count leading_dense_block_count
    full_attention_interval hash_layer_count expert_shared_feed_forward_length
    expert_chunk_feed_forward_length decoder_start_token_id decoder_block_count
    embedding_length_per_layer_input=embd_length_per_layer_inp altup_active_idx
    altup_num_inputs expert_count expert_shared_count expert_group_count
    expert_group_used_count expert_gating_func experts_per_group
    moe_every_n_layers moe_latent_size nextn_predict_layers
    rescale_every_n_layers time_mix_extra_dim time_decay_extra_dim
    token_shift_count num_loops interleave_moe_layer_step block_size
    conv_kernel_size conv_group_size selector_rank selector_top_k
    target_hidden_size pooling_type num_deepstack_layers expert_latent_length
LLM u32|array
    feed_forward_length expert_feed_forward_length expert_used_count
Adapters array adapter_
    token_ids_activate token_ids_substitute
Adapters f32 adapter_
    router_gain
Adapters u32 adapter_
    count lora_rank
Attention array
    recurrent_layers rope_pattern attention_compress_ratios=compress_ratios
Attention bool
    causal_attention=causal
Attention f32 attn_
    /max_alibi_bias=max_alibi_bias /clamp_kqv=clamp_kqv
    /layer_norm_eps=layernorm_eps /layer_norm_rms_eps=layernorm_rms_eps
    /group_norm_eps=groupnorm_eps
    /attention_compress_rope_freq_base=compress_rope_freq_base
    /attention_scale=scale output_scale value_scale temperature_scale
Attention u32
    key_length value_length key_length_mla value_length_mla key_length_swa
    key_length_mla_swa value_length_mla_swa kv_lora_rank_swa value_length_swa
    shared_kv_layers group_norm_groups=groupnorm_groups q_lora_rank kv_lora_rank
    decay_lora_rank iclr_lora_rank value_residual_mix_lora_rank gate_lora_rank
    relative_attn_buckets_count=rel_buckets_count sliding_window
    attention_output_group_count=output_group_count
    attention_output_lora_rank=output_lora_rank
    attn_temperature_length=temperature_length
Attention u32|array
    head_count head_count_kv sliding_window_pattern
Attention.Indexer array indexer_
    types
Attention.Indexer u32 indexer_
    head_count key_length top_k block_size local_blocks
HyperConnection f32 hyper_connection_
    epsilon magnitude
HyperConnection u32 hyper_connection_
    count sinkhorn_iterations low_rank
PerLayerEmbedding array ple_
    layers
PerLayerEmbedding u64[] ple_
    layer_multipliers head_offsets head_vocab_sizes
PerLayerEmbedding u32 ple_
    ngram_size heads_per_ngram conv_kernel eos_token_id image_token_id
Rope array rope_
    dimension_sections
Rope bool rope_
    scaling_finetuned
Rope f32 rope_
    freq_base_swa freq_base scaling_factor scaling_alpha
    scaling_attn_factors=scaling_attn_factor scaling_yarn_log_mul
    scaling_yarn_ext_factor scaling_yarn_attn_factor scaling_yarn_beta_fast
    scaling_yarn_beta_slow
Rope string rope_
    scaling_type
Rope u32 rope_
    dimension_count dimension_count_swa scaling_orig_ctx_len
Activation f32 activation_
    situ_beta situ_linear_beta
AttnRes u32 attn_res_
    block_size
HRM bool hrm_
    prefix_lm
HRM u32 hrm_
    layers_per_stack h_cycles l_cycles
SSM bool ssm_
    dt_b_c_rms
SSM u32 ssm_
    conv_kernel inner_size state_size time_step_rank group_count
KDA bool kda_
    safe_gate
KDA f32 kda_
    gate_lower_bound
KDA u32 kda_
    head_dim
WKV u32 wkv_
    head_size
PosNet u32 posnet_
    embedding_length block_count
ConvNext u32 convnext_
    embedding_length block_count
Classifier array classifier_
    output_labels
ShortConv u32 shortconv_
    l_cache
Tokenizer array token_
    list merges types=token_type scores
    /precompiled_charsmap=precompiled_charsmap /suppress_tokens=suppress_tokens
Tokenizer bool
    add_bos_token=add_bos add_eos_token=add_eos add_sep_token=add_sep
    add_space_prefix=add_prefix remove_extra_whitespaces=remove_extra_ws
    normalizer_lowercase normalizer_strip_accents
Tokenizer string tokenizer_
    model pre
Tokenizer u32
    token_type_count bos_token_id=bos_id eos_token_id=eos_id unk_token_id=unk_id
    sep_token_id=sep_id pad_token_id=pad_id mask_token_id=mask_id
    eot_token_id=eot_id eom_token_id=eom_id
Clip bool clip_
    has_vision_encoder has_audio_encoder has_gen_audio_encoder
Clip string clip_
    projector_type
ClipVision array vision_
    image_mean image_std expert_count_per_layer wa_layer_indexes
    is_deepstack_layers wa_pattern_mode feature_layers image_grid_pinpoints
ClipVision bool vision_
    use_gelu use_silu
ClipVision string clip_vision_
    projector_type
ClipVision u32 vision_
    projection_dim patch_size embedding_length feed_forward_length block_count
    image_size max_pixels=image_max_pixels min_pixels=image_min_pixels
    preproc_max_tiles preproc_min_tiles preproc_image_size spatial_merge_size
    expert_used_count n_wa_pattern window_size
ClipVision.Attention f32 vision_attention_
    layernorm_eps
ClipVision.Attention u32 vision_
    head_count head_count_kv head_dim
ClipVision.Projector array vision_
    spatial_offsets
ClipVision.Projector u32 vision_projector_
    query_side window_side scale_factor
ClipVision.SAM u32 vision_sam_
    layers_count=block_count embedding_length head_count
ClipAudio array audio_
    rvq_codebook_size wa_pattern_mode feature_layers
ClipAudio string clip_audio_
    projector_type
ClipAudio u32 audio_
    projection_dim embedding_length feed_forward_length block_count num_mel_bins
    rvq_num_quantizers window_size local_block_count local_group_size
    subsampling_factor chunk_size conv_kernel_size max_pos_emb
ClipAudio.Attention f32 audio_attention_
    layernorm_eps
ClipAudio.Attention u32 audio_
    head_count
ClipAudio.Projector u32 audio_projector_
    /audio_stack_factor=stack_factor window_size downsample_rate head_count
ClipGenAudio string clip_gen_audio_
    projector_type /gen_audio_model_variant=model_variant
ClipGenAudio u32 gen_audio_
    projection_dim embedding_length feed_forward_length block_count
ClipGenAudio.Attention f32 gen_audio_attention_
    layernorm_eps
ClipGenAudio.Attention u32 gen_audio_
    head_count head_count_kv
Diffusion bool diffusion_
    shift_logits
xIELU array xielu_
    alpha_p alpha_n beta eps
"""


def _sections(table: str) -> Iterator[tuple[list[str], list[str]]]:
    """(words at the margin, words below them)"""
    lines = iter(table.strip().split("\n"))
    head, below = next(lines).split(), []
    for line in lines:
        if line.startswith(" "):
            below += line.split()
        else:
            yield head, below
            head, below = line.split(), []
    yield head, below


def _pair(word: str) -> tuple[str, str]:
    name, _, other = word.partition("=")
    return name, other or name.lower()


def _make() -> Any:
    keys = type("Keys", (), {"__module__": f"{__package__}.constants"})
    for (path, prefix), words in _sections(_KEYS):
        *outer, name = path.split(".")
        parent = getattr(keys, outer[0]) if outer else keys
        members = {name: prefix + rest for name, rest in map(_pair, words)}
        setattr(parent, name, type(name, (), members))
    return keys


Keys: Any = _make()


def adds() -> Iterator[tuple[str, str, str]]:
    """Of each method its name, the type of the value and the key."""
    for (path, kind, *rest), words in _sections(_ADDS):
        group = Keys
        for name in path.split("."):
            group = getattr(group, name)
        for method, key in map(_pair, words):
            whole = method[1:] if method[0] == "/" else "".join(rest) + method
            yield f"add_{whole}", kind, getattr(group, key.upper())
