"""Lists and tuples where NumPy takes arrays."""

from __future__ import annotations

import numpy as np

from tests.probes.table import probe


@probe(1.3)
def of_list_sin_1(x):
    return np.sin([x, 2.0]).sum()


@probe(1.3)
def of_list_add_2(x):
    return np.add([x, 1.0], (2.0, x)).sum()


@probe(1.3)
def of_list_maximum_3(x):
    return np.maximum([x, 1.0], [1.0, x]).sum()


@probe(1.3)
def of_list_outer_4(x):
    return np.outer([x, 1.0], [2.0, x]).sum()


@probe(1.3)
def of_list_inner_5(x):
    return np.inner([x, 1.0], [2.0, x])


@probe(1.3)
def of_list_cross_6(x):
    return np.cross([x, 1.0, 2.0], [2.0, x, x]).sum()


@probe(1.3)
def of_list_kron_7(x):
    return np.kron([x, 1.0], [2.0, x]).sum()


@probe(1.3)
def of_list_linalg_norm_8(x):
    return np.linalg.norm([x, 1.0, x * x])


@probe(1.3)
def of_list_linalg_det_9(x):
    return np.linalg.det([[x, 1.0], [2.0, x]])


@probe(1.3)
def of_list_linalg_solve_10(x):
    return np.linalg.solve([[x, 1.0], [2.0, x * 3]], [x, 1.0]).sum()


@probe(1.3)
def of_list_linalg_inv_11(x):
    return np.linalg.inv([[x, 1.0], [2.0, x * 3]]).sum()


@probe(1.3)
def of_list_mean_12(x):
    return np.mean([x, 1.0, x * x]) + np.std([x, 1.0, x * x]) + np.var([x, 2.0])


@probe(1.3)
def of_list_cumsum_13(x):
    return np.cumsum([x, 1.0, x * x])[2] + np.prod([x, x, 2.0])


@probe(1.3)
def of_list_concatenate_14(x):
    return np.concatenate([[x, 1.0], [x * x]]).sum()


@probe(1.3)
def of_list_stack_15(x):
    return np.stack([[x, 1.0], [x * x, x]]).sum()


@probe(1.3)
def of_list_max_16(x):
    return np.max([x, 1.0, x * x]) + np.min((x, 1.0, x * x))


@probe(1.3)
def of_list_sort_17(x):
    return np.sort([x, 0.1, x * x])[1]


@probe(1.3)
def of_list_interp_18(x):
    return np.interp(x, [0.0, 1.0, 2.0], [x, 2.0, x * x])


@probe(1.3)
def of_list_polyval_19(x):
    return np.polyval([x, 1.0, x * x], x)


@probe(1.3)
def of_list_convolve_20(x):
    return np.convolve([x, 1.0], [x, 2.0, 1.0]).sum()


@probe(1.3)
def of_list_einsum_21(x):
    return np.einsum("i,i", [x, 1.0], [x, x * x])


@probe(1.3)
def of_list_tensordot_22(x):
    return np.tensordot([x, 1.0], [x, x * x], axes=1) + 0.0


@probe(1.3)
def of_list_dot_23(x):
    return np.dot([[x, 1.0], [2.0, x]], [x, 1.0]).sum()


@probe(1.3)
def of_list_array_24(x):
    return np.array([x, 1.0]).dot([x, 2.0])


@probe(1.3)
def of_list_array_25(x):
    return np.array([x, 1.0]) @ [x, 2.0]


@probe(1.3)
def of_list_array_26(x):
    return [x, 2.0] @ np.array([x, 1.0])


@probe(1.3)
def of_list_array_27(x):
    return ([x, 2.0] - np.array([x * x, 1.0])).prod()


@probe(1.3)
def of_list_array_28(x):
    return (np.array([x, 2.0]) / (x, 2.0)).sum() * x


@probe(1.3)
def of_list_array_29(x):
    return (np.array([x, 2.0]) ** [2.0, x]).sum()


@probe(1.3)
def of_list_where_30(x):
    return np.where([True, False], [x, 1.0], (x * x, x)).sum()


@probe(1.3)
def of_list_clip_31(x):
    return np.clip([x, 3.0], 0.0, 2.0).sum()


@probe(1.3)
def of_list_diff_32(x):
    return np.diff([x, 1.0, x * x]).prod()


@probe(1.3)
def of_list_trapezoid_33(x):
    return np.trapezoid([x, 1.0, x * x], [0.0, x, 2 * x])


@probe(1.3)
def of_list_average_34(x):
    return np.average([x, 1.0, x * x], weights=[x, 1.0, 2.0])


@probe(1.3)
def of_list_reshape_35(x):
    return np.reshape([x, 1.0, x * x, 2.0], (2, 2))[1, 0]


@probe(1.3)
def of_list_transpose_36(x):
    return np.transpose([[x, 1.0], [x * x, 2.0]])[0, 1]


@probe(1.3)
def of_list_trace_37(x):
    return np.trace([[x, 1.0], [x * x, x]]) + np.diag([x, x * x])[1, 1]


@probe(1.3)
def of_list_repeat_38(x):
    return np.repeat([x, x * x], 2).prod() + np.tile([x, 1.0], 2).sum()


@probe(1.3)
def of_list_roll_39(x):
    return np.roll([x, x * x, 1.0], 1)[0] + np.flip([x, x * x])[0]


@probe(1.3)
def of_list_logaddexp_40(x):
    return np.logaddexp([x, 1.0], [2.0, x]).sum()


@probe(1.3)
def of_list_hypot_41(x):
    return np.hypot([x, 1.0], x).sum()


@probe(1.3)
def of_list_full_42(x):
    return np.full(3, x).sum() + np.full((2,), [x, x * x]).sum()


@probe(1.3)
def of_list_linspace_43(x):
    return np.linspace(x, [x * x, 2.0], 3).sum()


@probe(1.3)
def of_list_meshgrid_44(x):
    return np.meshgrid([x, 1.0], [x * x, 2.0])[1].sum()


@probe(1.3)
def of_list_append_45(x):
    return np.append([x, 1.0], [x * x]).sum() + np.insert([x, 1.0], 1, x * x)[1]


@probe(1.3)
def of_list_broadcast_to_46(x):
    return np.broadcast_to([x, 1.0], (2, 2)).sum()


@probe(1.3)
def of_list_vstack_47(x):
    return np.vstack([[x, 1.0], [x * x, x]]).sum() + np.hstack(([x], [x * x])).sum()


@probe(1.3)
def of_list_take_48(x):
    return np.take([x, x * x], 1) + np.take_along_axis(np.array([x, x * x]), np.array([1]), 0)[0]


@probe(1.3)
def of_list_median_49(x):
    return np.median([x, 1.0, x * x]) + np.percentile([x, 1.0, x * x], 30)


@probe(1.3)
def of_list_abs_50(x):
    return np.abs([x, -x * x]).sum() + np.square([x, 2.0]).sum() + np.sqrt([x, x * x]).sum()


@probe(1.3)
def of_list_multiply_reduce_51(x):
    return (
        np.multiply.reduce([x, x * x, 2.0])
        + np.add.accumulate([x, x * x])[1]
        + np.multiply.outer([x, 1.0], [x, x]).sum()
    )


@probe(1.3)
def of_list_nansum_52(x):
    return np.nansum([x, np.nan]) + np.ptp([x, x * x, 0.1])


@probe(1.3)
def of_list_atleast_2d_53(x):
    return np.atleast_2d([x, x * x]).sum() + np.squeeze([[x]]) + np.expand_dims([x], 0)[0, 0]


@probe(1.3)
def of_list_vdot_54(x):
    return np.vdot([x, 1.0], [x, x * x])


@probe(1.3)
def of_list_linalg_multi_dot_56(x):
    return np.linalg.multi_dot([[x, 1.0], [[x, 2.0], [1.0, x]], [x, 1.0]])


@probe(1.3)
def of_list_gradient_57(x):
    return np.gradient([x, x * x, x**3])[1]


@probe(1.3)
def of_list_fft_fft_59(x):
    return np.fft.fft([x, 1.0, x * x]).real.sum()


@probe(1.3)
def of_list_searchsorted_60(x):
    return np.searchsorted([0.0, 1.0, 2.0], x) * x + np.digitize(x, [0.0, 1.0]) * x * x


@probe(1.3)
def of_list_ones_62(x):
    return np.ones(3) * [x, 1.0, x * x] @ [1.0, x, 2.0]


@probe(1.3)
def of_list_dot_63(x):
    c = (1.0, 2.0)
    return sum(ci * x for ci in c) + np.dot(c, [x, x * x])


@probe(1.3)
def of_list_sum_64(x):
    return np.sum([[x, 1.0], [x * x, 2.0]], axis=0)[0]


@probe(1.3)
def of_list_mul(x):
    return float(np.sum(np.multiply(x, [1.0, 2.0])))


@probe(1.3)
def of_list_mul4(x):
    return float(np.sum(np.arctan2([1.0, 2.0], [x, x])))


@probe(1.3)
def of_list_mul5(x):
    return float(np.sum(np.power(x, [1.0, 2.0])))


@probe(1.3)
def of_list_mulout(x):
    a = np.zeros(2)
    np.multiply(x, [1.0, 2.0], out=a)
    return a.sum()


@probe(1.3)
def of_list_mulout2(x):
    a = np.zeros(2)
    np.multiply(x, (1.0, 2.0), out=a)
    np.add(a, [x, 1.0], out=a)
    return a.prod()


@probe(1.3)
def of_list_whereout(x):
    a = np.zeros(2)
    np.multiply(x, [1.0, 2.0], out=a, where=[True, False])
    return a.sum()


@probe(1.3)
def of_list_mv(x):
    return np.matmul([[1.0, 2.0], [3.0, x]], [x, 1.0]).sum()


@probe(1.3)
def of_list_stlist(x):
    a = np.zeros((2, 2))
    a[0] = [x, 1.0]
    a[:, 1] *= [2.0, x]
    a[1] += (x, x)
    return a.sum()
