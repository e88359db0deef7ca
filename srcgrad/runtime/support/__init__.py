"""The functions that generated text may call: NumPy and math only, nothing else of srcgrad."""

from __future__ import annotations

from srcgrad.runtime.support.adjoints import (
    Record as Record,
)
from srcgrad.runtime.support.adjoints import (
    accumulate as accumulate,
)
from srcgrad.runtime.support.adjoints import (
    add as add,
)
from srcgrad.runtime.support.adjoints import (
    attr_add as attr_add,
)
from srcgrad.runtime.support.adjoints import (
    bar as bar,
)
from srcgrad.runtime.support.adjoints import (
    field as field,
)
from srcgrad.runtime.support.adjoints import (
    get_add as get_add,
)
from srcgrad.runtime.support.adjoints import (
    gradient as gradient,
)
from srcgrad.runtime.support.adjoints import (
    handler_entered as handler_entered,
)
from srcgrad.runtime.support.adjoints import (
    item_add as item_add,
)
from srcgrad.runtime.support.adjoints import (
    like as like,
)
from srcgrad.runtime.support.adjoints import (
    own as own,
)
from srcgrad.runtime.support.adjoints import (
    part as part,
)
from srcgrad.runtime.support.adjoints import (
    record_bar as record_bar,
)
from srcgrad.runtime.support.adjoints import (
    seed as seed,
)
from srcgrad.runtime.support.adjoints import (
    zeros as zeros,
)
from srcgrad.runtime.support.array_methods import (
    astype as astype,
)
from srcgrad.runtime.support.array_methods import (
    compress as compress,
)
from srcgrad.runtime.support.array_methods import (
    flatten as flatten,
)
from srcgrad.runtime.support.array_methods import (
    item as item,
)
from srcgrad.runtime.support.array_methods import (
    item_back as item_back,
)
from srcgrad.runtime.support.array_methods import (
    property_of as property_of,
)
from srcgrad.runtime.support.array_methods import (
    tolist as tolist,
)
from srcgrad.runtime.support.array_methods import (
    tolist_back as tolist_back,
)
from srcgrad.runtime.support.array_methods import (
    view as view,
)
from srcgrad.runtime.support.containers import (
    equal_lengths as equal_lengths,
)
from srcgrad.runtime.support.containers import (
    is_mapping as is_mapping,
)
from srcgrad.runtime.support.containers import (
    is_sequence as is_sequence,
)
from srcgrad.runtime.support.containers import (
    sequence as sequence,
)
from srcgrad.runtime.support.containers import (
    unpacked as unpacked,
)
from srcgrad.runtime.support.containers import (
    without_keys as without_keys,
)
from srcgrad.runtime.support.decompositions import (
    determined as determined,
)
from srcgrad.runtime.support.decompositions import (
    distinct as distinct,
)
from srcgrad.runtime.support.decompositions import (
    eig_back as eig_back,
)
from srcgrad.runtime.support.decompositions import (
    eig_dot as eig_dot,
)
from srcgrad.runtime.support.decompositions import (
    eigh_back as eigh_back,
)
from srcgrad.runtime.support.decompositions import (
    eigh_dot as eigh_dot,
)
from srcgrad.runtime.support.decompositions import (
    eigvals_back as eigvals_back,
)
from srcgrad.runtime.support.decompositions import (
    eigvals_dot as eigvals_dot,
)
from srcgrad.runtime.support.decompositions import (
    eigvalsh_back as eigvalsh_back,
)
from srcgrad.runtime.support.decompositions import (
    eigvalsh_dot as eigvalsh_dot,
)
from srcgrad.runtime.support.decompositions import (
    inverse_sums as inverse_sums,
)
from srcgrad.runtime.support.decompositions import (
    largest as largest,
)
from srcgrad.runtime.support.decompositions import (
    paired as paired,
)
from srcgrad.runtime.support.decompositions import (
    repeated_terms as repeated_terms,
)
from srcgrad.runtime.support.einsum import (
    added as added,
)
from srcgrad.runtime.support.einsum import (
    einsum_back as einsum_back,
)
from srcgrad.runtime.support.einsum import (
    einsum_cross as einsum_cross,
)
from srcgrad.runtime.support.einsum import (
    einsum_dot as einsum_dot,
)
from srcgrad.runtime.support.einsum import (
    einsum_of as einsum_of,
)
from srcgrad.runtime.support.einsum import (
    is_given as is_given,
)
from srcgrad.runtime.support.einsum import (
    nothing as nothing,
)
from srcgrad.runtime.support.einsum import (
    replaced as replaced,
)
from srcgrad.runtime.support.einsum import (
    without as without,
)
from srcgrad.runtime.support.elementwise import (
    above as above,
)
from srcgrad.runtime.support.elementwise import (
    angle_unit as angle_unit,
)
from srcgrad.runtime.support.elementwise import (
    below as below,
)
from srcgrad.runtime.support.elementwise import (
    broadcast_like as broadcast_like,
)
from srcgrad.runtime.support.elementwise import (
    direction as direction,
)
from srcgrad.runtime.support.elementwise import (
    exp_difference as exp_difference,
)
from srcgrad.runtime.support.elementwise import (
    given as given,
)
from srcgrad.runtime.support.elementwise import (
    i0_partial as i0_partial,
)
from srcgrad.runtime.support.elementwise import (
    match as match,
)
from srcgrad.runtime.support.elementwise import (
    polygamma as polygamma,
)
from srcgrad.runtime.support.elementwise import (
    power_partial as power_partial,
)
from srcgrad.runtime.support.elementwise import (
    safe_divide as safe_divide,
)
from srcgrad.runtime.support.elementwise import (
    sinc_partial as sinc_partial,
)
from srcgrad.runtime.support.elementwise import (
    unbroadcast as unbroadcast,
)
from srcgrad.runtime.support.elementwise import (
    within as within,
)
from srcgrad.runtime.support.elementwise import (
    zero_like as zero_like,
)
from srcgrad.runtime.support.factors import (
    padded as padded,
)
from srcgrad.runtime.support.factors import (
    qr_any_back as qr_any_back,
)
from srcgrad.runtime.support.factors import (
    qr_any_dot as qr_any_dot,
)
from srcgrad.runtime.support.factors import (
    qr_back as qr_back,
)
from srcgrad.runtime.support.factors import (
    qr_check as qr_check,
)
from srcgrad.runtime.support.factors import (
    qr_dot as qr_dot,
)
from srcgrad.runtime.support.factors import (
    qr_tall as qr_tall,
)
from srcgrad.runtime.support.factors import (
    svd_any_back as svd_any_back,
)
from srcgrad.runtime.support.factors import (
    svd_any_dot as svd_any_dot,
)
from srcgrad.runtime.support.factors import (
    svd_back as svd_back,
)
from srcgrad.runtime.support.factors import (
    svd_dot as svd_dot,
)
from srcgrad.runtime.support.factors import (
    svdvals_back as svdvals_back,
)
from srcgrad.runtime.support.factors import (
    svdvals_dot as svdvals_dot,
)
from srcgrad.runtime.support.factors import (
    widened as widened,
)
from srcgrad.runtime.support.fourier import (
    fft_axes as fft_axes,
)
from srcgrad.runtime.support.fourier import (
    fft_sizes as fft_sizes,
)
from srcgrad.runtime.support.fourier import (
    irfft_back as irfft_back,
)
from srcgrad.runtime.support.fourier import (
    irfftn_back as irfftn_back,
)
from srcgrad.runtime.support.fourier import (
    irfftn_dot as irfftn_dot,
)
from srcgrad.runtime.support.fourier import (
    other_norm as other_norm,
)
from srcgrad.runtime.support.fourier import (
    rfft_back as rfft_back,
)
from srcgrad.runtime.support.fourier import (
    rfftn_back as rfftn_back,
)
from srcgrad.runtime.support.inplace import (
    added_at as added_at,
)
from srcgrad.runtime.support.inplace import (
    along_axis_index as along_axis_index,
)
from srcgrad.runtime.support.inplace import (
    cycled as cycled,
)
from srcgrad.runtime.support.inplace import (
    cycled_like as cycled_like,
)
from srcgrad.runtime.support.inplace import (
    diagonal_index as diagonal_index,
)
from srcgrad.runtime.support.inplace import (
    distinct_index as distinct_index,
)
from srcgrad.runtime.support.inplace import (
    flat_index as flat_index,
)
from srcgrad.runtime.support.inplace import (
    flat_place as flat_place,
)
from srcgrad.runtime.support.inplace import (
    mask_index as mask_index,
)
from srcgrad.runtime.support.inplace import (
    maximum_at as maximum_at,
)
from srcgrad.runtime.support.inplace import (
    minimum_at as minimum_at,
)
from srcgrad.runtime.support.inplace import (
    sorted_array as sorted_array,
)
from srcgrad.runtime.support.inplace import (
    winners as winners,
)
from srcgrad.runtime.support.join import (
    array_back as array_back,
)
from srcgrad.runtime.support.join import (
    as_array as as_array,
)
from srcgrad.runtime.support.join import (
    block_back as block_back,
)
from srcgrad.runtime.support.join import (
    column_stack_back as column_stack_back,
)
from srcgrad.runtime.support.join import (
    concatenate_back as concatenate_back,
)
from srcgrad.runtime.support.join import (
    dstack_back as dstack_back,
)
from srcgrad.runtime.support.join import (
    hsplit_axis as hsplit_axis,
)
from srcgrad.runtime.support.join import (
    hstack_back as hstack_back,
)
from srcgrad.runtime.support.join import (
    insert_back as insert_back,
)
from srcgrad.runtime.support.join import (
    split_back as split_back,
)
from srcgrad.runtime.support.join import (
    stack_back as stack_back,
)
from srcgrad.runtime.support.join import (
    vstack_back as vstack_back,
)
from srcgrad.runtime.support.lanes import (
    any_lane as any_lane,
)
from srcgrad.runtime.support.lanes import (
    lanes_at as lanes_at,
)
from srcgrad.runtime.support.lanes import (
    masked as masked,
)
from srcgrad.runtime.support.linalg import (
    adjoint as adjoint,
)
from srcgrad.runtime.support.linalg import (
    apply_like as apply_like,
)
from srcgrad.runtime.support.linalg import (
    checkered as checkered,
)
from srcgrad.runtime.support.linalg import (
    cholesky_back as cholesky_back,
)
from srcgrad.runtime.support.linalg import (
    cholesky_dot as cholesky_dot,
)
from srcgrad.runtime.support.linalg import (
    cofactor as cofactor,
)
from srcgrad.runtime.support.linalg import (
    cofactor_dot as cofactor_dot,
)
from srcgrad.runtime.support.linalg import (
    diagonal_matrix as diagonal_matrix,
)
from srcgrad.runtime.support.linalg import (
    inverse_gaps as inverse_gaps,
)
from srcgrad.runtime.support.linalg import (
    main_diagonal as main_diagonal,
)
from srcgrad.runtime.support.linalg import (
    minors as minors,
)
from srcgrad.runtime.support.linalg import (
    minors_back as minors_back,
)
from srcgrad.runtime.support.linalg import (
    outer_like as outer_like,
)
from srcgrad.runtime.support.linalg import (
    pinv_back as pinv_back,
)
from srcgrad.runtime.support.linalg import (
    pinv_dot as pinv_dot,
)
from srcgrad.runtime.support.linalg import (
    slogdet_back as slogdet_back,
)
from srcgrad.runtime.support.linalg import (
    slogdet_dot as slogdet_dot,
)
from srcgrad.runtime.support.linalg import (
    solve_like as solve_like,
)
from srcgrad.runtime.support.linalg import (
    symmetric as symmetric,
)
from srcgrad.runtime.support.memory import (
    add_at_back as add_at_back,
)
from srcgrad.runtime.support.memory import (
    alias_back as alias_back,
)
from srcgrad.runtime.support.memory import (
    alias_bar as alias_bar,
)
from srcgrad.runtime.support.memory import (
    attr_back as attr_back,
)
from srcgrad.runtime.support.memory import (
    attr_bar as attr_bar,
)
from srcgrad.runtime.support.memory import (
    bind_item as bind_item,
)
from srcgrad.runtime.support.memory import (
    contents as contents,
)
from srcgrad.runtime.support.memory import (
    copy_back as copy_back,
)
from srcgrad.runtime.support.memory import (
    inplace_bar as inplace_bar,
)
from srcgrad.runtime.support.memory import (
    inplace_undo as inplace_undo,
)
from srcgrad.runtime.support.memory import (
    is_part as is_part,
)
from srcgrad.runtime.support.memory import (
    last_written as last_written,
)
from srcgrad.runtime.support.memory import (
    list_append_back as list_append_back,
)
from srcgrad.runtime.support.memory import (
    list_extend_back as list_extend_back,
)
from srcgrad.runtime.support.memory import (
    list_insert_back as list_insert_back,
)
from srcgrad.runtime.support.memory import (
    part_back as part_back,
)
from srcgrad.runtime.support.memory import (
    part_bar as part_bar,
)
from srcgrad.runtime.support.memory import (
    pop_back as pop_back,
)
from srcgrad.runtime.support.memory import (
    private as private,
)
from srcgrad.runtime.support.memory import (
    put_back as put_back,
)
from srcgrad.runtime.support.memory import (
    refuse_shared as refuse_shared,
)
from srcgrad.runtime.support.memory import (
    refuse_truncation as refuse_truncation,
)
from srcgrad.runtime.support.memory import (
    save_inplace as save_inplace,
)
from srcgrad.runtime.support.memory import (
    save_item as save_item,
)
from srcgrad.runtime.support.memory import (
    shallow_bar as shallow_bar,
)
from srcgrad.runtime.support.memory import (
    store_back as store_back,
)
from srcgrad.runtime.support.memory import (
    stored_back as stored_back,
)
from srcgrad.runtime.support.memory import (
    view_bar as view_bar,
)
from srcgrad.runtime.support.norms import (
    line_shares as line_shares,
)
from srcgrad.runtime.support.norms import (
    lines as lines,
)
from srcgrad.runtime.support.norms import (
    norm_axes as norm_axes,
)
from srcgrad.runtime.support.norms import (
    norm_back as norm_back,
)
from srcgrad.runtime.support.norms import (
    norm_dot as norm_dot,
)
from srcgrad.runtime.support.norms import (
    norm_kind as norm_kind,
)
from srcgrad.runtime.support.norms import (
    norm_slope as norm_slope,
)
from srcgrad.runtime.support.norms import (
    singular_shares as singular_shares,
)
from srcgrad.runtime.support.norms import (
    singular_slope as singular_slope,
)
from srcgrad.runtime.support.norms import (
    tie_shares as tie_shares,
)
from srcgrad.runtime.support.norms import (
    unlines as unlines,
)
from srcgrad.runtime.support.norms import (
    vector_norm_back as vector_norm_back,
)
from srcgrad.runtime.support.norms import (
    vector_norm_dot as vector_norm_dot,
)
from srcgrad.runtime.support.order import (
    sort_back as sort_back,
)
from srcgrad.runtime.support.order import (
    sort_dot as sort_dot,
)
from srcgrad.runtime.support.order import (
    unique_back as unique_back,
)
from srcgrad.runtime.support.order import (
    unique_dot as unique_dot,
)
from srcgrad.runtime.support.pad import (
    pad_back as pad_back,
)
from srcgrad.runtime.support.pad import (
    pad_dot as pad_dot,
)
from srcgrad.runtime.support.products import (
    cross_back_a as cross_back_a,
)
from srcgrad.runtime.support.products import (
    cross_back_b as cross_back_b,
)
from srcgrad.runtime.support.products import (
    dot_back_a as dot_back_a,
)
from srcgrad.runtime.support.products import (
    dot_back_b as dot_back_b,
)
from srcgrad.runtime.support.products import (
    inner_back_a as inner_back_a,
)
from srcgrad.runtime.support.products import (
    inner_back_b as inner_back_b,
)
from srcgrad.runtime.support.products import (
    kron_back_a as kron_back_a,
)
from srcgrad.runtime.support.products import (
    kron_back_b as kron_back_b,
)
from srcgrad.runtime.support.products import (
    matmul_back_a as matmul_back_a,
)
from srcgrad.runtime.support.products import (
    matmul_back_b as matmul_back_b,
)
from srcgrad.runtime.support.products import (
    matrix_power_back as matrix_power_back,
)
from srcgrad.runtime.support.products import (
    matrix_power_dot as matrix_power_dot,
)
from srcgrad.runtime.support.products import (
    multi_dot_back as multi_dot_back,
)
from srcgrad.runtime.support.products import (
    multi_dot_dot as multi_dot_dot,
)
from srcgrad.runtime.support.products import (
    tensordot_back_a as tensordot_back_a,
)
from srcgrad.runtime.support.products import (
    tensordot_back_b as tensordot_back_b,
)
from srcgrad.runtime.support.reduce import (
    average_weights as average_weights,
)
from srcgrad.runtime.support.reduce import (
    average_weights_back as average_weights_back,
)
from srcgrad.runtime.support.reduce import (
    before as before,
)
from srcgrad.runtime.support.reduce import (
    carry as carry,
)
from srcgrad.runtime.support.reduce import (
    count as count,
)
from srcgrad.runtime.support.reduce import (
    cumsum_back as cumsum_back,
)
from srcgrad.runtime.support.reduce import (
    kept as kept,
)
from srcgrad.runtime.support.reduce import (
    prod_others as prod_others,
)
from srcgrad.runtime.support.reduce import (
    quantile_apply as quantile_apply,
)
from srcgrad.runtime.support.reduce import (
    quantile_back as quantile_back,
)
from srcgrad.runtime.support.reduce import (
    sum_back as sum_back,
)
from srcgrad.runtime.support.reduce import (
    ties as ties,
)
from srcgrad.runtime.support.reduce import (
    to_array as to_array,
)
from srcgrad.runtime.support.reduce import (
    to_items as to_items,
)
from srcgrad.runtime.support.reduce import (
    valid as valid,
)
from srcgrad.runtime.support.revolve import (
    next_snapshot as next_snapshot,
)
from srcgrad.runtime.support.revolve import (
    own_state as own_state,
)
from srcgrad.runtime.support.revolve import (
    put_state as put_state,
)
from srcgrad.runtime.support.revolve import (
    snapshot_limit as snapshot_limit,
)
from srcgrad.runtime.support.revolve import (
    state_apart as state_apart,
)
from srcgrad.runtime.support.rulechecks import (
    captured as captured,
)
from srcgrad.runtime.support.rulechecks import (
    captured_back as captured_back,
)
from srcgrad.runtime.support.rulechecks import (
    check_apart as check_apart,
)
from srcgrad.runtime.support.rulechecks import (
    cotangent as cotangent,
)
from srcgrad.runtime.support.rulechecks import (
    cotangent_again as cotangent_again,
)
from srcgrad.runtime.support.rulechecks import (
    cotangent_back as cotangent_back,
)
from srcgrad.runtime.support.rulechecks import (
    cotangent_of as cotangent_of,
)
from srcgrad.runtime.support.rulechecks import (
    cotangent_of_back as cotangent_of_back,
)
from srcgrad.runtime.support.rulechecks import (
    cotangents as cotangents,
)
from srcgrad.runtime.support.rulechecks import (
    cotangents_again as cotangents_again,
)
from srcgrad.runtime.support.rulechecks import (
    cotangents_back as cotangents_back,
)
from srcgrad.runtime.support.rulechecks import (
    read_only as read_only,
)
from srcgrad.runtime.support.rulechecks import (
    zero_tangent as zero_tangent,
)
from srcgrad.runtime.support.shape import (
    broadcast_arrays_back as broadcast_arrays_back,
)
from srcgrad.runtime.support.shape import (
    broadcast_arrays_dot as broadcast_arrays_dot,
)
from srcgrad.runtime.support.shape import (
    cast_like as cast_like,
)
from srcgrad.runtime.support.shape import (
    diag_back as diag_back,
)
from srcgrad.runtime.support.shape import (
    filled as filled,
)
from srcgrad.runtime.support.shape import (
    fit as fit,
)
from srcgrad.runtime.support.shape import (
    meshgrid_back as meshgrid_back,
)
from srcgrad.runtime.support.shape import (
    meshgrid_dot as meshgrid_dot,
)
from srcgrad.runtime.support.shape import (
    places as places,
)
from srcgrad.runtime.support.shape import (
    repeat_back as repeat_back,
)
from srcgrad.runtime.support.shape import (
    reshape_as as reshape_as,
)
from srcgrad.runtime.support.shape import (
    reshape_back as reshape_back,
)
from srcgrad.runtime.support.shape import (
    rollaxis_back as rollaxis_back,
)
from srcgrad.runtime.support.shape import (
    scatter as scatter,
)
from srcgrad.runtime.support.shape import (
    shaped_back as shaped_back,
)
from srcgrad.runtime.support.shape import (
    shaped_dot as shaped_dot,
)
from srcgrad.runtime.support.shape import (
    take_back as take_back,
)
from srcgrad.runtime.support.shape import (
    tile_back as tile_back,
)
from srcgrad.runtime.support.shape import (
    trace_back as trace_back,
)
from srcgrad.runtime.support.shape import (
    transpose_back as transpose_back,
)
from srcgrad.runtime.support.signal import (
    choose_back as choose_back,
)
from srcgrad.runtime.support.signal import (
    convolve_crop as convolve_crop,
)
from srcgrad.runtime.support.signal import (
    convolve_embed as convolve_embed,
)
from srcgrad.runtime.support.signal import (
    cov_apply as cov_apply,
)
from srcgrad.runtime.support.signal import (
    cov_pair as cov_pair,
)
from srcgrad.runtime.support.signal import (
    diff_back as diff_back,
)
from srcgrad.runtime.support.signal import (
    diff_dot as diff_dot,
)
from srcgrad.runtime.support.signal import (
    ediff1d_back as ediff1d_back,
)
from srcgrad.runtime.support.signal import (
    ediff1d_dot as ediff1d_dot,
)
from srcgrad.runtime.support.signal import (
    gradient_back as gradient_back,
)
from srcgrad.runtime.support.signal import (
    interp_gather as interp_gather,
)
from srcgrad.runtime.support.signal import (
    interp_scatter as interp_scatter,
)
from srcgrad.runtime.support.signal import (
    interp_slope as interp_slope,
)
from srcgrad.runtime.support.signal import (
    interp_slope_back as interp_slope_back,
)
from srcgrad.runtime.support.signal import (
    outer_left as outer_left,
)
from srcgrad.runtime.support.signal import (
    outer_left_back as outer_left_back,
)
from srcgrad.runtime.support.signal import (
    poly_moments as poly_moments,
)
from srcgrad.runtime.support.signal import (
    poly_partial as poly_partial,
)
from srcgrad.runtime.support.signal import (
    ramp as ramp,
)
from srcgrad.runtime.support.signal import (
    ramp_back as ramp_back,
)
from srcgrad.runtime.support.signal import (
    select_back as select_back,
)
from srcgrad.runtime.support.signal import (
    select_default_back as select_default_back,
)
from srcgrad.runtime.support.signal import (
    select_default_dot as select_default_dot,
)
from srcgrad.runtime.support.signal import (
    spread_left as spread_left,
)
from srcgrad.runtime.support.signal import (
    sum_of_back as sum_of_back,
)
from srcgrad.runtime.support.signal import (
    sum_of_dot as sum_of_dot,
)
from srcgrad.runtime.support.signal import (
    trapezoid_unit as trapezoid_unit,
)
from srcgrad.runtime.support.signal import (
    trapezoid_weights as trapezoid_weights,
)
from srcgrad.runtime.support.signal import (
    trapezoid_weights_back as trapezoid_weights_back,
)
from srcgrad.runtime.support.signal import (
    vander_partial as vander_partial,
)
from srcgrad.runtime.support.solves import (
    cutoff as cutoff,
)
from srcgrad.runtime.support.solves import (
    lstsq_back as lstsq_back,
)
from srcgrad.runtime.support.solves import (
    lstsq_dot as lstsq_dot,
)
from srcgrad.runtime.support.solves import (
    side as side,
)
from srcgrad.runtime.support.solves import (
    solve_order as solve_order,
)
from srcgrad.runtime.support.solves import (
    tensorinv_back as tensorinv_back,
)
from srcgrad.runtime.support.solves import (
    tensorinv_dot as tensorinv_dot,
)
from srcgrad.runtime.support.solves import (
    tensorsolve_back as tensorsolve_back,
)
from srcgrad.runtime.support.solves import (
    tensorsolve_dot as tensorsolve_dot,
)
from srcgrad.runtime.support.tangents import (
    alias_dot as alias_dot,
)
from srcgrad.runtime.support.tangents import (
    full_tangent as full_tangent,
)
from srcgrad.runtime.support.tangents import (
    inplace_dot as inplace_dot,
)
from srcgrad.runtime.support.tangents import (
    like_items as like_items,
)
from srcgrad.runtime.support.tangents import (
    private_tangent as private_tangent,
)
from srcgrad.runtime.support.tangents import (
    store_dot as store_dot,
)
from srcgrad.runtime.support.tangents import (
    tangent_like as tangent_like,
)
from srcgrad.runtime.support.tangents import (
    view_dot as view_dot,
)
