# torch.save before 1.6, cut short: the same bytes are identical, others are refused
printf '\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.rest of it' >a.pt
cp a.pt b.pt
lockstep compare a.pt b.pt; echo "exit $?"
echo >>b.pt
lockstep compare a.pt b.pt
