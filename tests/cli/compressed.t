#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compressed.t - folders with quantized weights as floats, as transformers loads them
#
# TORCH_PYTHON is a Python with torch, safetensors and transformers.  It makes
# folders of each method, and computes what their weights are.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

python=${TORCH_PYTHON:-python3}
# The top folder has folders that Python takes for packages.
cd "$dir" || exit 1
if ! "$python" -c 'import torch, safetensors.torch, transformers' >out 2>&1; then
    skip "compressed folders as transformers has them" "no transformers (TORCH_PYTHON)"
    finish
fi

cat >make.py <<'END'
import torch, json, os, sys, numpy as np
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM
out=sys.argv[1]
torch.manual_seed(1)
cfg=LlamaConfig(hidden_size=64,intermediate_size=128,num_hidden_layers=2,num_attention_heads=4,num_key_value_heads=2,vocab_size=40,tie_word_embeddings=False,max_position_embeddings=64)
m=LlamaForCausalLM(cfg).to(torch.bfloat16)
B=32
def write(name, fn, qc):
    d=f'{out}/{name}'; os.makedirs(d,exist_ok=True)
    t={};ref={}
    for k,v in m.state_dict().items():
        v=v.detach().clone()
        if 'proj' in k: fn(k,v,t,ref)
        else: t[k]=v; ref[k]=v.float()
    save_file({k:x.contiguous() for k,x in t.items()}, d+'/model.safetensors', metadata={'format':'pt'})
    c=json.loads(cfg.to_json_string(use_diff=False)); c['architectures']=['LlamaForCausalLM']; c['torch_dtype']='bfloat16'; c.pop('dtype',None)
    c['quantization_config']=qc
    json.dump(c,open(d+'/config.json','w'),indent=2)
    open(d+'/tokenizer_config.json','w').write('{}')
    save_file({k:x.contiguous() for k,x in ref.items()}, f'{out}/{name}.ref.safetensors')
def fp8(k,v,t,ref):
    r,c=v.shape; sr,sc=-(-r//B),-(-c//B)
    s=torch.rand(sr,sc)*.5+.25
    S=s.repeat_interleave(B,0)[:r].repeat_interleave(B,1)[:,:c]
    q=(v.float()/S).clamp(-448,448).to(torch.float8_e4m3fn)
    t[k]=q; t[k+'_scale_inv']=s; ref[k]=q.float()*S
write('fp8',fp8,{'quant_method':'fp8','weight_block_size':[B,B],'activation_scheme':'dynamic','fmt':'e4m3'})
def fp8t(k,v,t,ref):
    s=torch.tensor(.37); q=(v.float()/s).to(torch.float8_e4m3fn); t[k]=q; t[k+'_scale_inv']=s; ref[k]=q.float()*s
write('fp8t',fp8t,{'quant_method':'fp8'})
def ct(k,v,t,ref):
    s=v.float().abs().amax(1,keepdim=True)/448; q=(v.float()/s).to(torch.float8_e4m3fn); t[k]=q; t[k+'_scale']=s; ref[k]=q.float()*s
write('ct',ct,{'quant_method':'compressed-tensors','format':'float-quantized','config_groups':{'group_0':{'targets':['Linear'],'weights':{'num_bits':8,'type':'float','strategy':'channel','symmetric':True}}}})
def pack(q,bits,axis):
    n=32//bits
    q=np.moveaxis(q.astype(np.uint32),axis,-1); q=q.reshape(q.shape[:-1]+(-1,n))
    r=np.zeros(q.shape[:-1],np.uint32)
    for i in range(n): r|=q[...,i]<<np.uint32(bits*i)
    return torch.from_numpy(np.moveaxis(r,-1,axis).astype(np.int32).copy() if False else np.ascontiguousarray(np.moveaxis(r,-1,axis)).view(np.int32))
def ctp(k,v,t,ref):
    r,c=v.shape; g=32; w=v.float().view(r,c//g,g); s=(w.abs().amax(2)/7).to(torch.bfloat16); q=(w/s.float()[...,None]).round().clamp(-8,7)
    n=k[:-len('.weight')]
    t[n+'.weight_packed']=pack((q+8).view(r,c).numpy(),4,1); t[n+'.weight_scale']=s; t[n+'.weight_shape']=torch.tensor([r,c]); ref[k]=(q*s.float()[...,None]).view(r,c)
write('ctp',ctp,{'quant_method':'compressed-tensors','format':'pack-quantized','config_groups':{'group_0':{'targets':['Linear'],'weights':{'num_bits':4,'type':'int','strategy':'group','group_size':32,'symmetric':True}}}})
def gptq(k,v,t,ref):
    r,c=v.shape; g=32; n=k[:-len('.weight')]
    gi=torch.arange(c)//g; s=(torch.rand(c//g,r)*.02+.01).to(torch.float16); z=torch.randint(1,15,(c//g,r))
    q=torch.randint(0,16,(c,r))
    t[n+'.qweight']=pack(q.numpy(),4,0); t[n+'.qzeros']=pack((z-1).numpy(),4,1); t[n+'.scales']=s; t[n+'.g_idx']=gi.to(torch.int32)
    ref[k]=((q-z[gi]).float()*s.float()[gi]).T
write('gptq',gptq,{'quant_method':'gptq','bits':4,'group_size':32,'desc_act':False,'sym':False})
E2M1=torch.tensor([0,.5,1,1.5,2,3,4,6,-0.,-.5,-1,-1.5,-2,-3,-4,-6])
def nv(k,v,t,ref):
    r,c=v.shape; g=16; n=k[:-len('.weight')]
    q=torch.randint(0,16,(r,c)); s=(torch.rand(r,c//g)*3+.1).to(torch.float8_e4m3fn); s2=torch.tensor(.0123)
    t[k]=(q[:,0::2]|q[:,1::2]<<4).to(torch.uint8); t[n+'.weight_scale']=s; t[n+'.weight_scale_2']=s2; t[n+'.input_scale']=torch.tensor(.5)
    ref[k]=(E2M1[q]*s.float().repeat_interleave(g,1))*s2
write('nvfp4',nv,{'quant_method':'modelopt','quant_algo':'NVFP4'})
def nvc(k,v,t,ref):
    r,c=v.shape; g=16; n=k[:-len('.weight')]
    q=torch.randint(0,16,(r,c)); s=(torch.rand(r,c//g)*3+.1).to(torch.float8_e4m3fn); s2=torch.tensor([64.])
    t[n+'.weight_packed']=(q[:,0::2]|q[:,1::2]<<4).to(torch.uint8); t[n+'.weight_scale']=s; t[n+'.weight_global_scale']=s2
    ref[k]=(E2M1[q]*s.float().repeat_interleave(g,1))/s2
write('nvct',nvc,{'quant_method':'compressed-tensors','format':'nvfp4-pack-quantized','config_groups':{'group_0':{'format':'nvfp4-pack-quantized'}}})
def awq(k,v,t,ref): t[k]=v; ref[k]=v.float()
write('awq',awq,{'quant_method':'awq','bits':4})
from transformers import GptOssConfig, GptOssForCausalLM
g=GptOssConfig(hidden_size=64,intermediate_size=96,num_hidden_layers=2,num_attention_heads=4,num_key_value_heads=2,head_dim=16,vocab_size=40,num_local_experts=4,num_experts_per_tok=2,max_position_embeddings=64,initial_context_length=32)
gm=GptOssForCausalLM(g).to(torch.bfloat16)
d=f'{out}/oss'; os.makedirs(d,exist_ok=True)
from transformers.integrations.mxfp4 import convert_moe_packed_tensors
t={};ref={}
for k,v in gm.state_dict().items():
    v=v.detach().clone()
    if k.endswith('experts.gate_up_proj') or k.endswith('experts.down_proj'):
        e,i,o=v.shape
        b=torch.randint(0,256,(e,o,i//32,16),dtype=torch.uint8); s=torch.randint(118,124,(e,o,i//32),dtype=torch.uint8)
        t[k+'_blocks']=b; t[k+'_scales']=s; ref[k]=convert_moe_packed_tensors(b,s,dtype=torch.float32)
        assert ref[k].shape==v.shape,(ref[k].shape,v.shape)
    else: t[k]=v; ref[k]=v.float()
save_file({k:x.contiguous() for k,x in t.items()}, d+'/model.safetensors', metadata={'format':'pt'})
c=json.loads(g.to_json_string(use_diff=False)); c['architectures']=['GptOssForCausalLM']; c['torch_dtype']='bfloat16'; c.pop('dtype',None)
c['quantization_config']={'quant_method':'mxfp4','modules_to_not_convert':['lm_head']}
json.dump(c,open(d+'/config.json','w'),indent=2)
open(d+'/tokenizer_config.json','w').write('{}')
save_file({k:x.contiguous() for k,x in ref.items()}, f'{out}/oss.ref.safetensors')
END
cat >same.py <<'END'
import sys, torch
from safetensors.torch import load_file
a, b, kind = load_file(sys.argv[1]), load_file(sys.argv[2]), getattr(torch, sys.argv[3])
assert set(a) == set(b), sorted(set(a) ^ set(b))
for k in a:
    assert a[k].dim() < 2 or a[k].dtype == kind, (k, a[k].dtype)
    assert torch.equal(a[k], b[k].to(a[k].dtype)), k
END
cat >loads.py <<'END'
import sys, torch
from transformers import AutoModelForCausalLM
from safetensors.torch import load_file
m = AutoModelForCausalLM.from_pretrained(sys.argv[1], torch_dtype="auto")
assert m.dtype == torch.bfloat16 and not hasattr(m.config, "quantization_config")
n = AutoModelForCausalLM.from_config(m.config).to(torch.bfloat16)
n.load_state_dict({k: v.to(torch.bfloat16) for k, v in load_file(sys.argv[2]).items()})
n.model.rotary_emb = m.model.rotary_emb  # it is not a bfloat16
ids = torch.tensor([[1, 5, 9, 30, 2]])
with torch.no_grad():
    assert torch.equal(m.eval()(ids).logits, n.eval()(ids).logits)
END
mkdir made && "$python" make.py made >out 2>&1 || cat out

run() {
    "$modelfile" "$@" --quiet >out
}
decoded() {
    run dequantize "$1" f32.safetensors --force &&
        "$python" same.py f32.safetensors "$1.ref.safetensors" float32 &&
        run convert "$1" bf16.safetensors --type bf16 --force &&
        "$python" same.py bf16.safetensors "$1.ref.safetensors" bfloat16 &&
        run dequantize --names keep "$1" f32.gguf --force && run diff f32.safetensors f32.gguf
}
folder() {
    run convert "$1" "$1.d/" --type bf16 &&
        "$python" same.py "$1.d/model.safetensors" "$1.ref.safetensors" bfloat16 &&
        ! grep -q quantization_config "$1.d/config.json" &&
        grep -q '"torch_dtype": "bfloat16"' "$1.d/config.json" &&
        cmp "$1/tokenizer_config.json" "$1.d/tokenizer_config.json" &&
        "$python" loads.py "$1.d" "$1.ref.safetensors"
}
for method in fp8 fp8t ct ctp gptq nvfp4 nvct oss; do
    check "$method: floats" decoded "made/$method"
    check "$method: a folder" folder "made/$method"
done
shards() {
    run convert made/fp8 made/shards/ --type bf16 --shard-size 50k &&
        [ -f made/shards/model-00004-of-00004.safetensors ] &&
        "$python" loads.py made/shards made/fp8.ref.safetensors
}
check "shards" shards
lossless() {
    run convert made/fp8 o.safetensors && cmp o.safetensors made/fp8/model.safetensors &&
        run convert made/fp8 made/copy/ && run diff made/copy made/fp8 &&
        cmp made/copy/config.json made/fp8/config.json
}
check "what keeps its types keeps its scales" lossless
unknown() {
    run "$@" 2>err
    [ $? = 3 ] && grep -q "the method 'awq' of quantization_config is not supported" err
}
check "another method is refused" unknown dequantize made/awq o.gguf --names keep
check "also by --type" unknown convert made/awq a.safetensors --type bf16
check "and as a folder" unknown convert made/awq made/awq.d/ --type bf16
# Its input scales belong to the weights.
smooth() {
    cp -r made/nvfp4 made/smooth &&
        sed 's/"NVFP4"/"W8A8_SQ_PER_CHANNEL"/' made/nvfp4/config.json >made/smooth/config.json
    run convert made/smooth o.safetensors --type bf16 --force 2>err
    [ $? = 3 ] && grep -q "the algorithm 'W8A8_SQ_PER_CHANNEL' of quantization_config is not" err
}
check "an algorithm of modelopt that is not known is refused" smooth
finish
